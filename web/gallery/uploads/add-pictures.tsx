import { useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';
import { acceptOf } from './picked-file.ts';

export interface AddPicturesProps {
  /** Content types. */
  readonly types: readonly string[];
  /** Or its place is held. */
  readonly shown: boolean;
  onPick(files: File[]): void;
}

export function AddPictures({ types, shown, onPick }: AddPicturesProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        type="button"
        class={shown ? 'add-pictures' : 'add-pictures held'}
        onClick={() => input.current?.click()}
      >
        <Icon name="plus" />
        Add pictures
      </button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        accept={acceptOf(types)}
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // Or choosing the same file again would be no change.
          currentTarget.value = '';
          if (files.length > 0) onPick(files);
        }}
      />
    </>
  );
}
