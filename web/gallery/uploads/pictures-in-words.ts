/** `1 picture`, `40 pictures`, `1,200 pictures`. */
export function pictures(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'picture' : 'pictures'}`;
}
