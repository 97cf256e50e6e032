import { PEOPLE } from './people.ts';

/** Who somebody wants to be. @param url that asked, to be asked once more with an answer. */
export function peoplePage(url: URL): string {
  const entries = PEOPLE.map(({ id, name, role }) => {
    const address = new URL(url);
    address.searchParams.delete('prompt');
    address.searchParams.set('person', id);
    const href = `${address.pathname}${address.search}`
      .replaceAll('&', '&amp;')
      .replaceAll('"', '%22');
    return `<li><a href="${href}">${name}</a><p>${role}</p></li>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in on this machine</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 34rem; margin: 4rem auto; padding: 0 1rem; }
  ul { list-style: none; padding: 0; }
  li { margin: 1rem 0; }
  a { font-size: 1.15rem; }
  p { margin: 0; }
</style>
<h1>Who are you?</h1>
<p>These people are made up, and have no passwords. They exist on this machine only.</p>
<ul>
${entries.join('\n')}
</ul>
</html>
`;
}
