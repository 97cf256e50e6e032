/** Somebody who can sign in on this machine. All of them are made up. */
export interface Person {
  /** `sub` of the tokens. */
  readonly id: string;
  readonly name: string;
  /** What the person is there to show. */
  readonly role: string;
  readonly claims: Readonly<Record<string, string>>;
}

export const DEVELOPER: Person = {
  id: 'developer',
  name: 'Dev Eloper',
  role: 'sees and uploads everything, and looks after all imports',
  claims: { glimpse_galleries: '*', glimpse_uploads: '*', glimpse_operator: 'true' },
};

export const PEOPLE: readonly Person[] = [
  DEVELOPER,
  {
    id: 'olive',
    name: 'Olive Owner',
    role: 'sees and uploads to the gallery harbour, and what is below it',
    claims: { glimpse_galleries: 'harbour', glimpse_uploads: 'harbour' },
  },
  {
    id: 'rhea',
    name: 'Rhea Reader',
    role: 'sees the gallery harbour, and uploads nothing',
    claims: { glimpse_galleries: 'harbour' },
  },
  {
    id: 'tariq',
    name: 'Tariq Tenant',
    role: 'sees and uploads to the gallery orchard, of another tenant',
    claims: { glimpse_galleries: 'orchard', glimpse_uploads: 'orchard' },
  },
  {
    id: 'oscar',
    name: 'Oscar Operator',
    role: 'sees no gallery, and looks after all imports',
    claims: { glimpse_operator: 'true' },
  },
];
