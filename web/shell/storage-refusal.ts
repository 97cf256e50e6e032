/** What to say of an error by which a browser refuses to keep anything; nothing of another. */
export function storageRefusal(error: unknown): string | undefined {
  if (!(error instanceof Error) || !/^(Security|QuotaExceeded)Error$/.test(error.name)) {
    return undefined;
  }
  return `This browser keeps nothing for ${location.host}, not even until you have signed in. Allow it to store data of this site.`;
}
