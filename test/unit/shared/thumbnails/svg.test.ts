import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { CorruptError, TooLargeError, UnsupportedError } from '../../../../shared/errors.ts';
import { drawSvg } from '../../../../shared/thumbnails/draw-svg.ts';
import { checkSvg } from '../../../../shared/thumbnails/svg.ts';
import { statedSize, withSize } from '../../../../shared/thumbnails/svg-size.ts';
import { plain, svg } from '../../../pictures.ts';

// Three times the size of what is drawn: every edge is one of a pixel.
const BOX = { width: 360, height: 240, fit: 'inside' } as const;

async function draw(source: Buffer): Promise<{ nominal: object; pixel: number[] }> {
  const { nominal, png } = await drawSvg((await checkSvg(source)).svg, BOX);
  const { data } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
  return { nominal, pixel: [...data.subarray(0, 4)] };
}

describe('what drawing programs write is drawn', () => {
  test('entities for namespaces and colours, after a prologue of more than 1,000 bytes', async () => {
    const doctype = `<?xml version="1.0" encoding="utf-8"?><!-- ${'drawn by hand '.repeat(100)} --><!DOCTYPE svg [<!ENTITY paint "lime"> <!ENTITY ns 'http://ns.example/'>]>`;
    const body = '<rect width="120" height="80" fill="&paint;"/>';
    const { nominal, pixel } = await draw(svg(body, 'width="120" height="80" id="&ns;"', doctype));
    expect(nominal).toEqual({ width: 120, height: 80 });
    expect(pixel).toEqual([0, 255, 0, 255]);
  });

  test('an encoding other than UTF-8', async () => {
    const declared = '<?xml version="1.0" encoding="iso-8859-1"?>';
    const body = '<!-- caf\u00e9 --><rect width="120" height="80" fill="lime"/>';
    const source = Buffer.from(svg(body, undefined, declared).toString('utf8'), 'latin1');
    expect((await draw(source)).pixel).toEqual([0, 255, 0, 255]);
    const mistaken = Buffer.from(
      source.toString('latin1').replace('iso-8859-1', 'utf-8'),
      'latin1',
    );
    await expect(checkSvg(mistaken)).rejects.toThrow(CorruptError);
  });

  test('a modest picture embedded in it', async () => {
    const embedded = (await plain(10, 10, '#0000ff').png().toBuffer()).toString('base64');
    const source = svg(
      `<image width="120" height="80" preserveAspectRatio="none" xlink:href="data:image/png;base64,${embedded}"/>`,
    );
    expect((await draw(source)).pixel).toEqual([0, 0, 255, 255]);
    expect((await checkSvg(source)).embeddedPixels).toBe(100);
  });
});

describe('what states no size that can be used is as large as browsers show it', () => {
  const GREEN = '<rect width="150" height="150" fill="lime"/>';
  const halves = async (attributes: string, before = '') => {
    const source = `${before}<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${GREEN}</svg>`;
    const { svg: checked } = await checkSvg(Buffer.from(source));
    const { nominal, png } = await drawSvg(checked, { width: 600, height: 600, fit: 'inside' });
    const { data, info } = await sharp(png).raw().toBuffer({ resolveWithObject: true });
    const at = (x: number) => [...data.subarray((info.width * 10 + x) * 4).subarray(0, 4)];
    const edge = info.width / 2;
    return { nominal, drawn: [info.width, info.height], left: at(edge - 2), right: at(edge + 1) };
  };

  test.each(['', 'width="nan" height="-1"', 'width="300" viewBox="0 0 NaN NaN"'])(
    'drawn: %s',
    async (attributes) => {
      expect(await halves(attributes)).toEqual({
        nominal: { width: 300, height: 150 },
        drawn: [600, 300],
        left: [0, 255, 0, 255],
        right: [0, 0, 0, 0],
      });
    },
  );

  test('after a prologue that looks like it', async () => {
    const before =
      '\uFEFF<?xml version="1.0"?>\r\n<!-- <svg> 😀 -->\r\n<!DOCTYPE svg [<!ENTITY a "b">]>\r\n';
    expect((await halves('id="😀&a;"', before)).nominal).toEqual({ width: 300, height: 150 });
  });

  test.each([
    [{}, 300, 150],
    [{ style: 'fill: red' }, 300, 150],
    [{ width: '1e400', height: '-100' }, 300, 150],
    [{ width: '100%', height: '100%' }, 300, 150],
    [{ width: '20' }, 20, 150],
    [{ height: '1in' }, 300, 72],
    [{ viewBox: '-50 -50 -100 -100' }, 300, 150],
    [{ viewBox: '0 0 100' }, 300, 150],
  ])('framed: %o', (attributes, width, height) => {
    expect(statedSize({ start: 0, attributes })).toBeUndefined();
    expect(withSize('<svg/>', { start: 0, attributes })).toContain(
      `viewBox="0 0 ${width} ${height}"`,
    );
  });

  test.each([
    [{ width: '150', height: '75' }, 150, 75],
    [{ width: '2in', height: '2.54cm' }, 144, 72],
    [{ width: '150', viewBox: '0 0 300 150' }, 150, 75],
    [{ height: '75', viewBox: '0 0 300 150' }, 150, 75],
    [{ width: '-1', height: 'auto', viewBox: ' 0,0 300, 150' }, 300, 150],
    [{ width: '0', height: '0' }, 0, 0],
    [{ width: '0', viewBox: '0 0 0 0' }, 0, 0],
    [{ width: '100', viewBox: '0 0 0 100' }, 0, 100],
  ])('and what states one keeps it: %o', (attributes, width, height) => {
    const root = { start: 0, attributes };
    expect(statedSize(root)).toEqual({ width, height });
    expect(withSize('<svg/>', root)).toBe('<svg/>');
  });

  test('also in a style, or by its viewBox', async () => {
    const styled = await halves('style="width: 150px; height: 75px"');
    expect(styled.nominal).toEqual({ width: 150, height: 75 });
    const seen = await halves('width="-1" height="auto" viewBox="0,0 300,150"');
    expect(seen).toMatchObject({ nominal: { width: 300, height: 150 }, right: [0, 0, 0, 0] });
  });
});

describe('nothing outside of it is read', () => {
  test('no file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svg-'));
    const file = join(folder, 'blue.png');
    await plain(10, 10, '#0000ff').png().toFile(file);
    const hrefs = [pathToFileURL(file).href, file, 'blue.png'];
    const images = hrefs.map((href) => `<image width="120" height="80" href="${href}"/>`);
    try {
      expect((await draw(svg(images.join('')))).pixel[3]).toBe(0);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('no host', async () => {
    let requests = 0;
    const server = createServer((_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const body = `<style>@import url(${url}/a.css);</style><image href="${url}/b.png" width="9" height="9"/><use href="${url}/c.svg#d"/><rect width="9" height="9" fill="url(${url}/e.svg#f)"/>`;
    const doctype = `<?xml version="1.0"?><?xml-stylesheet href="${url}/g.css"?><!DOCTYPE svg PUBLIC "x" "${url}/h.dtd">`;
    await draw(svg(body, undefined, doctype));
    server.close();
    expect(requests).toBe(0);
  });

  test.each([
    ['an external entity', '<!ENTITY a SYSTEM "file:///etc/passwd">'],
    ['an external parameter entity', '<!ENTITY % a SYSTEM "http://example.com/x"> %a;'],
    ['an entity of markup', '<!ENTITY a "<image href=\'x\'/>">'],
    ['an entity of an entity', '<!ENTITY a "b"><!ENTITY c "&a;&a;">'],
    ['an entity of a character reference', '<!ENTITY a "&#38;b;">'],
  ])('%s is refused', async (_what, declaration) => {
    const source = svg('', undefined, `<!DOCTYPE svg [${declaration}]>`);
    await expect(checkSvg(source)).rejects.toThrow(UnsupportedError);
  });

  test.each([
    ['an SVG', `data:image/svg+xml,${encodeURIComponent('<svg/>')}`],
    ['an SVG behind a line break', `da&#10;ta:image/png;base64,${svg('').toString('base64')}`],
    ['HTML', 'data:text/html,hello'],
    ['nothing', 'data:'],
  ])('a data reference to %s is refused', async (_what, href) => {
    await expect(checkSvg(svg(`<image href="${href}"/>`))).rejects.toThrow(UnsupportedError);
  });
});

describe('the cost is bounded', () => {
  test('in bytes', async () => {
    const source = svg(`<!--${'x'.repeat(9 * 1024 * 1024)}-->`);
    await expect(checkSvg(source)).rejects.toThrow(TooLargeError);
  });

  test('in time, whatever librsvg is busy with', async () => {
    const slow = svg(
      '<filter id="f" x="0" y="0" width="1" height="1"><feMorphology operator="dilate" radius="300"/></filter><rect width="1600" height="1600" filter="url(#f)"/>',
      'width="1600" height="1600"',
    );
    const { svg: checked } = await checkSvg(slow);
    const started = performance.now();
    const drawing = drawSvg(checked, { ...BOX, width: 1600, height: 1600 }, { timeoutMs: 700 });
    await expect(drawing).rejects.toThrow(TooLargeError);
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test('and what is too slow at the size of the box is drawn at its own', async () => {
    const slow = svg(
      '<filter id="f" x="0" y="0" width="1" height="1"><feMorphology operator="dilate" radius="3"/></filter><rect width="24" height="24" filter="url(#f)"/>',
      'width="24" height="24"',
    );
    const { svg: checked } = await checkSvg(slow);
    const { nominal, png } = await drawSvg(
      checked,
      { ...BOX, width: 1600, height: 1600 },
      { timeoutMs: 3000 },
    );
    expect(nominal).toEqual({ width: 24, height: 24 });
    expect(await sharp(png).metadata()).toMatchObject({ width: 24, height: 24 });
  });

  test('and what is too slow at both sizes is given up after both', async () => {
    const slow = svg(
      '<filter id="f" x="0" y="0" width="1" height="1"><feMorphology operator="dilate" radius="200"/></filter><rect width="1200" height="1200" filter="url(#f)"/>',
      'width="1200" height="1200"',
    );
    const { svg: checked } = await checkSvg(slow);
    const started = performance.now();
    const drawing = drawSvg(checked, { ...BOX, width: 1600, height: 1600 }, { timeoutMs: 700 });
    await expect(drawing).rejects.toThrow(TooLargeError);
    const tookMs = performance.now() - started;
    expect(tookMs).toBeGreaterThan(1300);
    expect(tookMs).toBeLessThan(4000);
  });

  test('in pixels drawn, as far as memory goes', async () => {
    const { svg: checked } = await checkSvg(
      svg('<rect width="9" height="9"/>', 'width="10" height="10"'),
    );
    const { png } = await drawSvg(
      checked,
      { ...BOX, width: 1600, height: 1600 },
      { maxPixels: 1005 },
    );
    expect(await sharp(png).metadata()).toMatchObject({ width: 31, height: 31 });
    await expect(drawSvg(checked, BOX, { maxPixels: 99 })).rejects.toThrow('at most 99 pixels');
  });

  test('in pixels drawn', async () => {
    const wide = svg('<rect width="9" height="9"/>', 'width="20000" height="20000"');
    const { svg: checked } = await checkSvg(wide);
    const box = { width: 5000, height: 5000, fit: 'outside' } as const;
    await expect(drawSvg(checked, box)).rejects.toThrow(TooLargeError);
  });
});

test.each([
  'width="100000" height="1"',
  'width="1e9" height="1e9" viewBox="0 0 100 100"',
  'width="2147483647" height="2147483647" viewBox="0 0 100 100"',
  'viewBox="0 0 1e9 1e9"',
  'width="100" viewBox="0 0 1 1000"',
])('more pixels a side than a picture may have are too many: %s', async (attributes) => {
  await expect(checkSvg(svg('<rect/>', attributes))).rejects.toThrow(TooLargeError);
});

test('and so are more than can be drawn', async () => {
  const { svg: checked } = await checkSvg(svg('<rect/>', 'width="40000" height="1"'));
  await expect(drawSvg(checked, BOX)).rejects.toThrow(TooLargeError);
});

test('a drawing is refused when it and its process need more memory than there is', async () => {
  const { render } = await import('../../../../shared/thumbnails/render.ts');
  const variant = {
    name: 'huge',
    width: 4096,
    height: 4096,
    fit: 'cover',
    format: 'webp',
  } as const;
  const variants = [{ ...variant, quality: 75, orientation: 'exif' }] as const;
  const rendering = render(svg('<rect/>'), variants, { memoryBytes: 512 * 1024 * 1024 });
  await expect(rendering).rejects.toThrow(/this SVG needs about \d+ MB$/);
});
