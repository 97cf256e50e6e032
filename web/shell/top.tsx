import type { ComponentChildren } from 'preact';
import type { Session } from '../sign-in/session.ts';
import { SignedIn, SignInAgain } from '../sign-in/signed-in.tsx';
import { Icon } from './icon.tsx';

const PAGES = {
  gallery: { href: '/', title: 'Galleries' },
  imports: { href: '/imports.html', title: 'Imports' },
  fleet: { href: '/fleet.html', title: 'Fleet' },
  /** On a developer's machine only: on AWS they are CloudWatch's. */
  dashboards: { href: '/dashboards', title: 'Dashboards' },
} as const;

export interface TopProps {
  /** Where the name of it all leads, and what follows it within the page. */
  home: string;
  onHome?: (event: MouseEvent) => void;
  /** Which page this is: the others are linked. */
  here: keyof typeof PAGES;
  /** Whether there are dashboards beside the pages. */
  dashboards: boolean;
  /** Of whoever has signed in, where one has to. */
  session: Session | undefined;
  /** What can be done here. */
  children?: ComponentChildren;
}

/** The head of a page, which stays in view. */
export function Top({ home, onHome, here, session, dashboards, children }: TopProps) {
  return (
    <>
      <header class="top">
        <a class="brand" href={home} onClick={onHome}>
          <Icon name="gallery" />
          <span>Glimpse</span>
        </a>
        <nav class="pages" aria-label="Pages">
          {Object.values(PAGES)
            .filter((page) => page !== PAGES[here] && (dashboards || page !== PAGES.dashboards))
            .map(({ href, title }) => (
              <a key={href} href={href}>
                {title}
              </a>
            ))}
        </nav>
        {children}
        {session !== undefined && <SignedIn session={session} />}
      </header>
      {session !== undefined && <SignInAgain session={session} />}
    </>
  );
}
