import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Dropped, droppedFiles } from './dropped-files.ts';
import { Icon } from './icon.tsx';

interface DropTargetProps {
  /** Whether files are taken; where they are not, the browser still must not open them. */
  readonly takes: boolean;
  /** What dropping does, in words. */
  readonly children: ComponentChildren;
  onDrop(dropped: Dropped<File>): void;
}

/** The whole page takes files; while some are held over it, an overlay says where they will go. */
export function DropTarget({ takes, children, onDrop }: DropTargetProps) {
  const [over, setOver] = useState(false);

  useEffect(() => {
    const drag = new AbortController();
    const { signal } = drag;
    // What the pointer is in. Each element's enter comes before its parent's leave, and an element
    // that is removed meanwhile never says leave.
    const inside = new Set<EventTarget>();
    // A picture that is dragged out of this very page passes for a file.
    let ours = false;

    const show = () => {
      for (const target of inside) {
        if (target instanceof Node && !target.isConnected) inside.delete(target);
      }
      setOver(takes && inside.size > 0);
    };
    const end = () => {
      ours = false;
      inside.clear();
      setOver(false);
    };
    const on = (
      type: 'dragenter' | 'dragover' | 'dragleave' | 'drop',
      act: (event: DragEvent) => void,
    ) =>
      addEventListener(
        type,
        (event) => {
          if (ours || !event.dataTransfer?.types.includes('Files')) return;
          // Otherwise the browser opens the file in place of the page.
          event.preventDefault();
          act(event);
        },
        { signal },
      );

    addEventListener('dragstart', () => (ours = true), { signal });
    addEventListener('dragend', end, { signal });
    // An element that was removed while it was dragged never says dragend.
    addEventListener('pointerdown', end, { signal });
    on('dragenter', ({ target }) => {
      if (target !== null) inside.add(target);
      show();
    });
    on('dragover', ({ dataTransfer }) => {
      if (dataTransfer !== null) dataTransfer.dropEffect = takes ? 'copy' : 'none';
    });
    on('dragleave', ({ target }) => {
      if (target !== null) inside.delete(target);
      show();
    });
    on('drop', ({ dataTransfer }) => {
      end();
      if (dataTransfer !== null && takes) {
        void droppedFiles<File>(dataTransfer.items).then(onDrop);
      }
    });
    return () => drag.abort();
  }, [takes, onDrop]);

  if (!over) return null;
  return (
    <div class="drop-target">
      <p>
        <Icon name="into" />
        <span>{children}</span>
      </p>
    </div>
  );
}
