import { DAMAGED, PICTURES, UNSUPPORTED } from './catalogue.ts';
import { hex } from './colour.ts';
import { render } from './render.ts';
import { skyline } from './scenes/city.ts';

/** The bytes of one object of the sample, by its key. */
export async function sampleBytes(image: string): Promise<Uint8Array> {
  if (image === DAMAGED) return damaged();
  if (image === UNSUPPORTED) return heic();
  const picture = PICTURES.get(image);
  if (picture === undefined) throw new Error(`expected a key of the sample, got ${image}`);
  return render(picture);
}

/** A photograph whose second half is gone. */
async function damaged(): Promise<Uint8Array> {
  const whole = await render({
    name: 'damaged-card.jpg',
    kind: 'skyline',
    size: [1200, 800],
    paint: skyline({
      seed: 17,
      hour: 'golden',
      sun: { x: 0.4, y: 0.3, z: 1 },
      lit: 0.05,
      tallest: 0.4,
      facade: hex('#8a7a6a', 0.6),
      haze: 0.6,
    }),
  });
  return whole.subarray(0, Math.floor(whole.length * 0.55));
}

/** The boxes that a telephone's HEIC starts with, and no picture: nothing here would decode it. */
function heic(): Uint8Array {
  const type = box('ftyp', Buffer.from('heic\0\0\0\0mif1heicmiaf', 'latin1'));
  return Buffer.concat([type, box('mdat', Buffer.alloc(24_000, 0x5a))]);
}

function box(name: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, body]);
}
