// What a person can do about what went wrong, by the API's codes.

const ADVICE: ReadonlyMap<string, string> = new Map([
  ['csv-empty', 'There is nothing in the file. Export it again, with its rows.'],
  ['csv-not-text', 'Open it in the program it comes from and export it as CSV.'],
  [
    'csv-encoding',
    'Choose the encoding that the file was saved in and read it again, or export it anew as UTF-8.',
  ],
  [
    'csv-delimiter',
    'Choose what stands between the columns and read the file again, or export it anew.',
  ],
  [
    'csv-header',
    'Give every column a name of its own in the first line, then drop the file here again.',
  ],
  [
    'csv-quote',
    'Go to that line, close the quote or double those inside the value, then drop the file here again.',
  ],
  [
    'csv-no-rows',
    'The file has a first line with names and nothing below. Export it with its rows.',
  ],
  ['csv-too-large', 'Split the file and import the parts one after another.'],
  ['not-uploaded', 'Choose the file again.'],
  [
    'reading-failed',
    'Drop the file here again. If it fails again, whoever runs Glimpse finds the reason in the logs.',
  ],
  ['over-budget', 'Allow a higher cost, show the model fewer columns, or import fewer rows.'],
  ['budget-spent', 'Allow a higher cost here, then resume. What is summarised stays.'],
  ['unsent', 'Resume, and what is missing is sent again.'],
  [
    'no-worker',
    'Ask whoever runs Glimpse to see to the workers, then resume. What is summarised stays.',
  ],
  [
    'quota-spent',
    'Ask whoever runs Glimpse to raise the limit at the provider, then resume. What is summarised stays.',
  ],
  [
    'key-refused',
    'Ask whoever runs Glimpse for a key that may use the model, then resume. What is summarised stays.',
  ],
  [
    'model-not-found',
    'Ask whoever runs Glimpse to correct the model’s name or the provider’s address, then resume.',
  ],
]);

/** One or two sentences, or nothing where the message says it all. */
export function adviceFor(code: string): string | undefined {
  return ADVICE.get(code);
}

/** Whether reading the same file in another way may help. */
export function helpsToReadAgain(code: string): boolean {
  return code === 'csv-encoding' || code === 'csv-delimiter' || code === 'csv-header';
}
