import { useEffect, useState } from 'preact/hooks';
import type { Uploads, UploadsSnapshot } from './upload-queue.ts';

export function useUploads(uploads: Uploads<File>): UploadsSnapshot {
  const [snapshot, setSnapshot] = useState(uploads.snapshot());
  useEffect(() => {
    const read = () => setSnapshot(uploads.snapshot());
    read();
    return uploads.subscribe(read);
  }, [uploads]);
  return snapshot;
}

export function UploadsPanel({ uploads }: { readonly uploads: Uploads<File> }) {
  useUploads(uploads);
  return null;
}
