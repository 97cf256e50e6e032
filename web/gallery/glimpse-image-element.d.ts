import type { JSX } from 'preact';
import type { View } from '../glimpse-image/view.ts';

declare module 'preact' {
  namespace JSX {
    interface IntrinsicElements {
      'glimpse-image': JSX.HTMLAttributes<HTMLElement> & {
        api: string;
        image?: string;
        variant: string;
        alt: string;
        view?: View;
        width?: number;
        height?: number;
        loading?: 'eager';
      };
    }
  }
}
