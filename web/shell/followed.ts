/** A link that this page follows itself; a new tab or window is the browser's own business. */
export function followed(follow: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    follow();
  };
}
