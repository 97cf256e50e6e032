const PATHS = {
  up: 'M10 16V5m0 0L5.5 9.5M10 5l4.5 4.5',
  check: 'm4.5 10.5 3.7 3.7 7.3-8',
  warning: 'M10 5.5v5.5m0 3.4v.1',
  cross: 'm5.5 5.5 9 9m0-9-9 9',
  plus: 'M10 4v12m-6-6h12',
  chevron: 'm6 8 4 4 4-4',
  pictures: 'M3.5 4.5h13v11h-13zm0 8.5 3.8-3.8 3.4 3.4 2.2-2.2 3.6 3.6M13 7.6v.1',
} as const;

export function Icon({ name }: { readonly name: keyof typeof PATHS }) {
  return (
    <svg class={`uploads-icon ${name}`} viewBox="0 0 20 20" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
