import type { ComponentChildren } from 'preact';
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
  /** What can be done here. */
  children?: ComponentChildren;
}

/** The head of a page, which stays in view. */
export function Top({ home, onHome, here, dashboards, children }: TopProps) {
  return (
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
    </header>
  );
}
