import { sendForm } from '../../shell/send-form.ts';
import { sketch } from './sketch.ts';
import { createUploadQueue, type UploadQueueOptions, type Uploads } from './upload-queue.ts';

type Given = 'send' | 'sketch' | 'schedule' | 'isOnline' | 'wait' | 'now';

/** The uploads of this page, for as long as it lives: they go on while other galleries are looked at. */
export function createUploads(options: Omit<UploadQueueOptions<File>, Given>): Uploads<File> {
  const queue = createUploadQueue<File>({
    ...options,
    send: sendForm,
    sketch,
    schedule: (run) => requestAnimationFrame(run),
    // Believed when a request fails or it changes, and not from the start: a computer that reaches
    // nothing but itself is "offline" to its browser.
    isOnline: () => navigator.onLine,
  });
  addEventListener('offline', () => queue.setOnline(false));
  addEventListener('online', () => queue.setOnline(true));
  return queue;
}
