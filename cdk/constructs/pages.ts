import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  CachePolicy,
  Distribution,
  HeadersFrameOption,
  HeadersReferrerPolicy,
  HttpVersion,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { UPLOAD_TYPES } from '../../shared/thumbnails/upload-types.ts';
import type { Config } from '../config-schema.ts';
import type { Api } from './api.ts';
import { browserAddress, pagesBucket } from './buckets.ts';
import { output } from './output.ts';
import type { Summaries } from './summaries.ts';
import type { Thumbnails } from './thumbnails.ts';

export interface PagesProps {
  config: Config;
  /** Which variants the gallery shows. */
  variants: { grid: string; large: string };
  thumbnails: Thumbnails;
  summaries: Summaries;
  api: Api;
}

/** Where a browser loads from: an origin, and below it a path if the origin is shared with others. */
interface Address {
  origin: string;
  path: string;
}

/** What no page of ours asks for, no script of ours shall. */
const PERMISSIONS = [
  'camera',
  'display-capture',
  'geolocation',
  'microphone',
  'payment',
  'publickey-credentials-get',
  'usb',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

/**
 * The pages, in a bucket of their own behind CloudFront. The stack makes the place; the files come
 * by `npm run publish-pages`, because a deployment that uploads needs a custom resource.
 */
export class Pages extends Construct {
  constructor(scope: Construct, id: string, props: PagesProps) {
    super(scope, id);
    const { config, variants, api } = props;
    const bucket = pagesBucket(this);
    const originals = browserAddress(props.thumbnails.originals);
    const thumbnails = thumbnailsAddress(props);
    const uploads = [originals, browserAddress(props.summaries.imports)];
    const distribution = this.#distribution(bucket, this.#headers(props, uploads, thumbnails));

    output(this, 'PagesUrl', `https://${distribution.distributionDomainName}`);
    output(this, 'PagesBucket', bucket.bucketName);
    output(this, 'PagesDistribution', distribution.distributionId);
    // The content of /config.json: all that the pages know of the stack.
    output(
      this,
      'PagesConfig',
      Stack.of(this).toJsonString({
        api: api.url,
        buckets: { originals: originals.origin, thumbnails: thumbnails.origin },
        variants: { grid: variants.grid, large: variants.large },
        upload: { maxBytes: config.uploads.maxBytes, types: UPLOAD_TYPES },
        imports: { maxBytes: config.summaries.limits.maxBytes },
        ...signInOf(config),
      }),
    );
  }

  #headers(
    { config, api }: PagesProps,
    uploads: readonly Address[],
    thumbnails: Address,
  ): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, 'Headers', {
      // An account has one list of these for all regions, and CDK's own names are the same in each.
      responseHeadersPolicyName: `${Aws.STACK_NAME}-${Aws.REGION}-pages`,
      securityHeadersBehavior: {
        contentSecurityPolicy: {
          contentSecurityPolicy: contentSecurityPolicy(
            [api.url, ...issuerOrigins(config)],
            uploads,
            thumbnails,
          ),
          override: true,
        },
        contentTypeOptions: { override: true },
        frameOptions: { frameOption: HeadersFrameOption.DENY, override: true },
        // Not even its origin: the address of a page may name a gallery.
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: {
          accessControlMaxAge: Duration.days(365),
          includeSubdomains: false,
          override: true,
        },
      },
      customHeadersBehavior: {
        customHeaders: [
          { header: 'Cross-Origin-Opener-Policy', value: 'same-origin', override: true },
          { header: 'Permissions-Policy', value: PERMISSIONS, override: true },
        ],
      },
      // A module script, as /glimpse-image.js is, is loaded by the rules of CORS.
      corsBehavior: {
        accessControlAllowCredentials: false,
        accessControlAllowHeaders: ['*'],
        accessControlAllowMethods: ['GET', 'HEAD'],
        accessControlAllowOrigins: config.allowedOrigins,
        originOverride: true,
      },
    });
  }

  #distribution(bucket: IBucket, headers: ResponseHeadersPolicy): Distribution {
    return new Distribution(this, 'Distribution', {
      comment: 'Glimpse pages',
      defaultRootObject: 'index.html',
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(bucket, {
          originAccessControl: new S3OriginAccessControl(this, 'Access', {
            originAccessControlName: `${Aws.STACK_NAME}-${Aws.REGION}-pages`,
          }),
        }),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
        // Honours the files' own cache-control, so that nothing needs to be invalidated.
        cachePolicy: CachePolicy.CACHING_OPTIMIZED,
        compress: true,
        responseHeadersPolicy: headers,
      },
      // To whoever may not list a bucket, S3 answers 403 for what is not there.
      errorResponses: [
        {
          httpStatus: 403,
          responseHttpStatus: 404,
          responsePagePath: '/404.html',
          ttl: Duration.seconds(10),
        },
      ],
    });
  }
}

function thumbnailsAddress({ api, thumbnails }: PagesProps): Address {
  const { delivery } = api;
  return delivery.kind === 'cdn'
    ? { origin: delivery.origin, path: '' }
    : browserAddress(thumbnails.thumbnails);
}

/** What the pages must know to sign in; nothing where everyone may call. */
function signInOf({ authentication }: Config) {
  if (authentication.kind !== 'jwt') return {};
  const { issuer, audience, pages } = authentication;
  return { signIn: { issuer, audience, clientId: pages.clientId, scope: pages.scope } };
}

/** Where the pages fetch keys and tokens. */
function issuerOrigins({ authentication }: Config): string[] {
  if (authentication.kind !== 'jwt') return [];
  return [new URL(authentication.issuer).origin, ...authentication.pages.origins];
}

function contentSecurityPolicy(
  calls: readonly string[],
  uploads: readonly Address[],
  thumbnails: Address,
): string {
  // A path that ends in a slash stands for all below it.
  const source = ({ origin, path }: Address) => (path === '' ? origin : `${origin}${path}/`);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' ${source(thumbnails)}`,
    `connect-src 'self' ${calls.join(' ')} ${uploads.map(source).join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}
