import { useId, useState } from 'preact/hooks';
import { galleryNamed } from '../route.ts';

/** Names a gallery that is not there yet: it begins to be with its first picture. */
export function NewGallery({
  shown = true,
  onOpen,
}: {
  /** Or its place is held. */
  shown?: boolean;
  onOpen: (gallery: string) => void;
}) {
  const id = useId();
  const [name, setName] = useState('');
  const gallery = galleryNamed(name);
  return (
    <form
      class={shown ? 'new-gallery' : 'new-gallery held'}
      onSubmit={(event) => {
        event.preventDefault();
        if (gallery !== '') onOpen(gallery);
      }}
    >
      <label for={id}>A gallery of your own</label>
      <input
        id={id}
        value={name}
        placeholder="such as summer/2026"
        maxLength={400}
        autocomplete="off"
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit" disabled={gallery === ''}>
        Open
      </button>
    </form>
  );
}
