const PATHS = {
  close: 'M6 6l12 12M18 6L6 18',
  back: 'M15 5l-7 7 7 7',
  on: 'M9 5l7 7-7 7',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  warning: 'M12 4.5L2.8 20h18.4zM12 10v4.5M12 17.3v.1',
  into: 'M12 4v11m0 0l-4.5-4.5M12 15l4.5-4.5M4 16v4h16v-4',
  table: 'M4 5h16v14H4zM4 10h16M4 14.5h16M9.5 10v9',
  folder: 'M3 6h6l2 2.5h10V19H3z',
  gallery: 'M4 18l5-6 4 4 3-3 4 5M4 5h16v14H4z',
} as const;

/** A line drawing for a button that has a name of its own. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
