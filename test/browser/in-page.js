// Runs in each page before anything of its own: watch.ts and the tests ask `glimpseWatch`.

const glimpseWatch = {
  violations: [],
  layoutShift: 0,
  shifted: [],
  layoutShiftAfterInput: 0,
  /** Milliseconds from the navigation until something was known of a picture. */
  firstPlaceholder: undefined,
  /** Until each picture was there, and how far down the page that is. */
  arrivals: [],

  /** Elements of the document and of all open shadow roots in it. */
  countNodes(root = document) {
    let count = 0;
    for (const element of root.querySelectorAll('*')) {
      count += 1 + (element.shadowRoot === null ? 0 : this.countNodes(element.shadowRoot));
    }
    return count;
  },

  /** The pictures in the document now, in its order. */
  pictures() {
    return [...document.querySelectorAll('glimpse-image')].map((picture) => {
      const item = picture.closest('li, [role=listitem]');
      const img = picture.shadowRoot?.querySelector('img');
      return {
        image: picture.closest('[data-image]')?.dataset.image ?? picture.getAttribute('image'),
        position: Number(item?.getAttribute('aria-posinset') ?? 0),
        state: picture.getAttribute('state'),
        src: img?.getAttribute('src') ?? '',
        shown: img?.complete === true && img.naturalWidth > 0,
        reason: picture.shadowRoot?.querySelector('[part=reason]')?.textContent ?? '',
      };
    });
  },

  /** Where each picture was in its gallery, of all that were ever in the document. */
  places: new Map(),
  mostNodes: 0,

  /** Notes them from now on, whenever elements come or go. */
  follow() {
    const note = () => {
      for (const link of document.querySelectorAll('a[data-image]')) {
        const { image } = link.dataset;
        const place = Number(link.closest('li').getAttribute('aria-posinset'));
        if ((this.places.get(image) ?? place) !== place) throw new Error(`${image} changed places`);
        this.places.set(image, place);
      }
      this.mostNodes = Math.max(this.mostNodes, this.countNodes());
    };
    note();
    const attributeFilter = ['data-image', 'aria-posinset'];
    new MutationObserver(note).observe(document, {
      childList: true,
      subtree: true,
      attributeFilter,
    });
    // The shadow trees' own.
    document.addEventListener('glimpse-change', note);
  },

  /** Settles when the page stands still after a turn of the wheel; answers where. */
  async scrolled(top) {
    const frame = () => new Promise(requestAnimationFrame);
    // At the end of what is loaded, the wheel turns in vain.
    for (let frames = 0; scrollY === top && frames < 20; frames++) await frame();
    for (let last = top; last !== scrollY; ) {
      last = scrollY;
      await frame();
      await frame();
    }
    return scrollY;
  },

  /** Scrolls to the end, again and again, until there is nothing more to come. */
  async toTheEnd() {
    while (document.querySelector('[aria-setsize="-1"], [aria-busy="true"]') !== null) {
      scrollTo(0, document.documentElement.scrollHeight);
      await new Promise((done) => setTimeout(done, 30));
    }
    scrollTo(0, document.documentElement.scrollHeight);
  },

  /** How many pictures on screen, Glimpse's or plain ones, are not there yet; undefined without any. */
  awaited() {
    const onScreen = [...document.querySelectorAll('glimpse-image, img')].filter(
      (picture) => picture.getBoundingClientRect().top < innerHeight,
    );
    const there = (picture) =>
      picture.getAttribute('state') === 'ready' || (picture.complete && picture.naturalWidth > 0);
    return onScreen.length === 0 ? undefined : onScreen.filter((each) => !there(each)).length;
  },

  /** How many show the blur that a thumbhash describes. */
  countBlurs() {
    return [...document.querySelectorAll('glimpse-image')].filter(({ shadowRoot }) =>
      isPainted(shadowRoot?.querySelector('canvas')),
    ).length;
  },
};

function isPainted(canvas) {
  if (canvas == null) return false;
  const { width, height } = canvas;
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
  return data.some((value) => value !== 0);
}

Object.assign(globalThis, { glimpseWatch });

document.addEventListener('securitypolicyviolation', (event) => {
  const { effectiveDirective, blockedURI, sourceFile, lineNumber } = event;
  glimpseWatch.violations.push(
    `${effectiveDirective}: ${blockedURI} at ${sourceFile}:${lineNumber}`,
  );
});

document.addEventListener('glimpse-change', ({ target, detail: { state, view } }) => {
  const at = performance.now();
  if (view?.thumbhash !== undefined) glimpseWatch.firstPlaceholder ??= at;
  if (state === 'ready')
    glimpseWatch.arrivals.push({ at, top: target.getBoundingClientRect().top });
});

// Of plain images, too; load does not bubble.
document.addEventListener(
  'load',
  ({ target }) => {
    if (target instanceof HTMLImageElement) {
      const { top } = target.getBoundingClientRect();
      glimpseWatch.arrivals.push({ at: performance.now(), top });
    }
  },
  { capture: true },
);

const nameOf = (node) => (node ? `${node.nodeName}.${node.className}` : 'the page');

function observe(type, each) {
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) each(entry);
  });
  observer.observe({ type, buffered: true });
}

observe('layout-shift', ({ value, hadRecentInput, sources }) => {
  if (hadRecentInput) {
    glimpseWatch.layoutShiftAfterInput += value;
    return;
  }
  glimpseWatch.layoutShift += value;
  for (const { node, previousRect: from, currentRect: to } of sources) {
    glimpseWatch.shifted.push(
      `${[node, node?.parentElement?.closest('section')].map(nameOf).join(' in ')}: ${from.x},${from.y} to ${to.x},${to.y}`,
    );
  }
});
