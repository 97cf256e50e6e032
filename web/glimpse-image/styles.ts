/** A constructed style sheet: a `<style>` would need a place in the Content-Security-Policy. */
export const styles = new CSSStyleSheet();

styles.replaceSync(`
:host { display: block; position: relative; overflow: hidden; }
:host([hidden]) { display: none; }
#place { display: block; width: 100%; height: 100%; }
#frame { position: absolute; inset: 0; container-type: size; background: linear-gradient(115deg, transparent 20%, rgb(255 255 255 / .14) 50%, transparent 80%) var(--glimpse-background, rgb(128 128 128 / .16)); }
#frame.ready { background: none; }
:host([state=failed]) #frame { background-image: none; }
#frame > * { position: absolute; inset: 0; width: 100%; height: 100%; }
img { object-fit: cover; }
.apart img { object-fit: contain; }
[part=reason] { box-sizing: border-box; display: grid; place-content: center; gap: .25em; padding: .75em; overflow: hidden; text-align: center; font-size: .8125rem; line-height: 1.35; color: inherit; }
[part=reason] > b { font-weight: 600; }
[part=reason] > span { display: block; overflow-wrap: anywhere; }
[part=reason] > span::first-letter { text-transform: uppercase; }
@container (width < 11rem) or (height < 7rem) { [part=reason] > span { display: none; } }
`);
