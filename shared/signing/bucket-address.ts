/** Where a bucket is, as far as a signature is concerned. */
export interface SigningPlace {
  readonly region: string;
  readonly bucket: string;
  /** Another S3 than AWS's, such as `http://127.0.0.1:4002`; addressed path style. */
  readonly endpoint?: string;
}

/** `origin + path` is the bucket's URL; an object's key follows after one more `/`. */
export interface BucketAddress {
  readonly origin: string;
  /** The `Host` header a browser will send, so without a scheme's default port. */
  readonly host: string;
  /** Empty where the bucket's name is in the host, else `/bucket`. */
  readonly path: string;
}

// A certificate for *.s3.<region>.amazonaws.com covers one label, so a bucket with a dot in its
// name (or one of the old names with capitals and underscores) cannot be in the host on https.
const ONE_HOST_LABEL = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;

// The partitions whose names end otherwise than in amazonaws.com, by the start of their regions.
const DNS_SUFFIXES = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
] as const;

/** The address that the AWS SDK would choose for the same region, bucket and endpoint. */
export function bucketAddress({ region, bucket, endpoint }: SigningPlace): BucketAddress {
  if (endpoint !== undefined) {
    const { origin, host, pathname } = new URL(endpoint);
    return { origin, host, path: `${pathname.replace(/\/$/, '')}/${encodeSegment(bucket)}` };
  }
  const regional = `s3.${region}.${dnsSuffix(region)}`;
  if (fitsInHost(bucket)) {
    const host = `${bucket}.${regional}`;
    return { origin: `https://${host}`, host, path: '' };
  }
  return { origin: `https://${regional}`, host: regional, path: `/${encodeSegment(bucket)}` };
}

/** Whether a bucket of this name is addressed as `https://BUCKET.s3.…`, or else as `https://s3.…/BUCKET`. */
export function fitsInHost(bucket: string): boolean {
  return ONE_HOST_LABEL.test(bucket);
}

/** `/` separates, everything else is data: S3 would read a bare `+` as a space. */
export function encodeKey(key: string): string {
  return encodeSegment(key).replaceAll('%2F', '/');
}

/** RFC 3986: everything but letters, digits and `-._~`. A lone surrogate throws a URIError. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, percent);
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function dnsSuffix(region: string): string {
  return DNS_SUFFIXES.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
}
