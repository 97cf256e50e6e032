import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

export interface TopProps {
  /** Where the name of it all leads, and what follows it within the page. */
  home: string;
  onHome?: (event: MouseEvent) => void;
  /** The other page. */
  other: { href: string; title: string };
  /** What can be done here. */
  children?: ComponentChildren;
}

/** The head of a page, which stays in view. */
export function Top({ home, onHome, other, children }: TopProps) {
  return (
    <header class="top">
      <a class="brand" href={home} onClick={onHome}>
        <Icon name="gallery" />
        Glimpse
      </a>
      <nav class="pages" aria-label="Pages">
        <a href={other.href}>{other.title}</a>
      </nav>
      {children}
    </header>
  );
}
