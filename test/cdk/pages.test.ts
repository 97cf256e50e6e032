// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation's references, written out.
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { templateOf } from './synth.ts';

const template = templateOf();

/** Text with CloudFormation's functions written out: `${Ref}` and `${Resource.Attribute}`. */
function written(value: unknown): string {
  const joined = z.object({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) });
  const ref = z.object({ Ref: z.string() });
  const attribute = z.object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) });
  const named = (id: string) => id.replace(/[0-9A-F]{8}$/, '');
  if (typeof value === 'string') return value;
  if (ref.safeParse(value).success) return `\${${named(ref.parse(value).Ref)}}`;
  if (attribute.safeParse(value).success) {
    const [id, name] = attribute.parse(value)['Fn::GetAtt'];
    return `\${${named(id)}.${name}}`;
  }
  const [separator, parts] = joined.parse(value)['Fn::Join'];
  return parts.map(written).join(separator);
}

const outputsOf = (of: Template) =>
  Object.fromEntries(
    Object.entries(of.findOutputs('*')).map(([name, { Value }]) => [name, written(Value)]),
  );

const policySchema = z.object({
  Properties: z.object({
    ResponseHeadersPolicyConfig: z.object({
      SecurityHeadersConfig: z.object({
        ContentSecurityPolicy: z.object({ ContentSecurityPolicy: z.unknown() }),
      }),
    }),
  }),
});

/** The Content-Security-Policy, by directive. */
function policyOf(of: Template): Record<string, string> {
  const [found] = Object.values(of.findResources('AWS::CloudFront::ResponseHeadersPolicy'));
  const { SecurityHeadersConfig } =
    policySchema.parse(found).Properties.ResponseHeadersPolicyConfig;
  const text = written(SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy);
  return Object.fromEntries(
    text.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources.join(' ')];
    }),
  );
}

const AT_REGION = '.s3.${AWS::Region}.${AWS::URLSuffix}';
const IMPORTS = `https://\${SummariesImports}${AT_REGION}`;
const ORIGINALS = `https://\${ThumbnailsOriginals}${AT_REGION}`;
const THUMBNAILS = `https://\${Thumbnails}${AT_REGION}`;

describe('the pages bucket', () => {
  test('is read by its own distribution and by nobody else', () => {
    const policies = template.findResources('AWS::S3::BucketPolicy', {
      Properties: { Bucket: { Ref: Match.stringLikeRegexp('^Pages') } },
    });
    const statements = Object.values(policies).flatMap(
      (policy) =>
        z
          .object({
            Properties: z.object({
              PolicyDocument: z.object({
                Statement: z.array(
                  z.object({
                    Effect: z.string(),
                    Action: z.unknown(),
                    Principal: z.unknown(),
                    Condition: z.unknown(),
                  }),
                ),
              }),
            }),
          })
          .parse(policy).Properties.PolicyDocument.Statement,
    );
    const [allowed, ...others] = statements.filter(({ Effect }) => Effect === 'Allow');
    expect(others).toEqual([]);
    expect(allowed?.Action).toBe('s3:GetObject');
    expect(allowed?.Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
    const { StringEquals } = z
      .object({ StringEquals: z.object({ 'AWS:SourceArn': z.unknown() }) })
      .parse(allowed?.Condition);
    expect(written(StringEquals['AWS:SourceArn'])).toBe(
      'arn:${AWS::Partition}:cloudfront::${AWS::AccountId}:distribution/${PagesDistribution}',
    );
  });

  test('is read with signatures, always', () => {
    template.hasResourceProperties('AWS::CloudFront::OriginAccessControl', {
      OriginAccessControlConfig: {
        OriginAccessControlOriginType: 's3',
        SigningBehavior: 'always',
        SigningProtocol: 'sigv4',
      },
    });
    template.hasResourceProperties('AWS::CloudFront::Distribution', {
      DistributionConfig: {
        Origins: [
          Match.objectLike({
            OriginAccessControlId: { 'Fn::GetAtt': [Match.stringLikeRegexp('^PagesAccess'), 'Id'] },
          }),
        ],
      },
    });
  });
});

test('the distribution speaks HTTPS, compresses, and says of what is missing that it is', () => {
  template.hasResourceProperties('AWS::CloudFront::Distribution', {
    DistributionConfig: {
      DefaultRootObject: 'index.html',
      HttpVersion: 'http2and3',
      DefaultCacheBehavior: {
        ViewerProtocolPolicy: 'redirect-to-https',
        Compress: true,
        ResponseHeadersPolicyId: { Ref: Match.stringLikeRegexp('^PagesHeaders') },
      },
      CustomErrorResponses: [
        Match.objectLike({ ErrorCode: 403, ResponseCode: 404, ResponsePagePath: '/404.html' }),
      ],
    },
  });
});

describe('the headers', () => {
  test('name this stack and region, as an account has one list of them', () => {
    const [policy] = Object.values(
      template.findResources('AWS::CloudFront::ResponseHeadersPolicy'),
    );
    const { Name } = z
      .object({
        Properties: z.object({ ResponseHeadersPolicyConfig: z.object({ Name: z.unknown() }) }),
      })
      .parse(policy).Properties.ResponseHeadersPolicyConfig;
    expect(written(Name)).toBe('${AWS::StackName}-${AWS::Region}-pages');
  });

  test('keep pages out of frames, addresses to themselves, and types as they are', () => {
    template.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: {
          ContentTypeOptions: { Override: true },
          FrameOptions: { FrameOption: 'DENY', Override: true },
          ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
          StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
        },
        CustomHeadersConfig: {
          Items: Match.arrayWith([
            { Header: 'Cross-Origin-Opener-Policy', Override: true, Value: 'same-origin' },
            Match.objectLike({
              Header: 'Permissions-Policy',
              Value: Match.stringLikeRegexp('camera=\\(\\)'),
            }),
          ]),
        },
      },
    });
  });

  test('let the allowed origins load the element', () => {
    const changes = { allowedOrigins: ['https://shop.example'] };
    templateOf({ changes }).hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: {
        CorsConfig: {
          AccessControlAllowCredentials: false,
          AccessControlAllowOrigins: { Items: ['https://shop.example'] },
        },
      },
    });
  });
});

describe('the Content-Security-Policy', () => {
  test('names the API, the issuer, the buckets and nothing else beyond the pages themselves', () => {
    expect(policyOf(template)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': `'self' ${THUMBNAILS}`,
      'connect-src': `'self' \${ApiHttp.ApiEndpoint} https://issuer.example ${ORIGINALS} ${IMPORTS}`,
      'base-uri': "'none'",
      'form-action': "'none'",
      'frame-ancestors': "'none'",
      'require-trusted-types-for': "'script'",
      'trusted-types': "'none'",
    });
  });

  test('names the CDN where thumbnails come from one', () => {
    const cdn = templateOf({ changes: { delivery: { kind: 'cdn' } } });
    expect(policyOf(cdn)['img-src']).toBe("'self' https://${ApiCdn.DomainName}");
  });

  test('names adopted buckets as browsers reach them: those with a dot below a shared origin', () => {
    const adopting = templateOf({
      changes: { adopt: { originals: 'my.photos', thumbnails: 'small' } },
    });
    const policy = policyOf(adopting);
    expect(policy['img-src']).toBe(`'self' https://small${AT_REGION}`);
    expect(policy['connect-src']).toBe(
      `'self' \${ApiHttp.ApiEndpoint} https://issuer.example https://s3.\${AWS::Region}.\${AWS::URLSuffix}/my.photos/ ${IMPORTS}`,
    );
  });
});

describe('the outputs', () => {
  test('hold the content of /config.json', () => {
    expect(JSON.parse(outputsOf(template).PagesConfig ?? '')).toEqual({
      api: '${ApiHttp.ApiEndpoint}',
      buckets: { originals: ORIGINALS, thumbnails: THUMBNAILS },
      variants: { grid: 'card', large: 'zoom' },
      upload: {
        maxBytes: 50_000_000,
        types: [
          'image/jpeg',
          'image/png',
          'image/webp',
          'image/avif',
          'image/gif',
          'image/tiff',
          'image/svg+xml',
        ],
      },
      imports: { maxBytes: 1_000_000_000 },
      signIn: {
        issuer: 'https://issuer.example/pool',
        audience: 'glimpse',
        clientId: 'glimpse-pages',
        scope: 'openid',
      },
    });
  });

  test('tell the command that publishes where to', () => {
    expect(outputsOf(template)).toMatchObject({
      PagesUrl: 'https://${PagesDistribution.DomainName}',
      PagesBucket: '${Pages}',
      PagesDistribution: '${PagesDistribution}',
    });
  });
});

test('a stack without pages has nothing of them', () => {
  const without = templateOf({ changes: { pages: false } });
  without.resourceCountIs('AWS::CloudFront::Distribution', 0);
  without.resourceCountIs('AWS::CloudFront::ResponseHeadersPolicy', 0);
  without.resourceCountIs('AWS::S3::Bucket', 3);
  expect(Object.keys(outputsOf(without)).filter((name) => name.startsWith('Pages'))).toEqual([]);
});
