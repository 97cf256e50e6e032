import { Aws, Duration, Stack } from 'aws-cdk-lib';
import {
  CorsHttpMethod,
  HttpApi,
  HttpMethod,
  HttpNoneAuthorizer,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  type IHttpRouteAuthorizer,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Distribution, ViewerProtocolPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import type { Metric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Construct } from 'constructs';
import type { Delivery } from '../../shared/thumbnails/delivery.ts';
import type { Config } from '../config-schema.ts';
import { alarm, EACH_MINUTE } from './alarm.ts';
import { type Authorizers, authorizersFor } from './authorizers.ts';
import { GlimpseFunction } from './glimpse-function.ts';
import { output } from './output.ts';
import type { Thumbnails } from './thumbnails.ts';

const ROUTES = [
  [HttpMethod.GET, '/galleries'],
  [HttpMethod.GET, '/images'],
  [HttpMethod.POST, '/thumbnails'],
  [HttpMethod.GET, '/thumbnail'],
  [HttpMethod.POST, '/uploads'],
] as const;

/** `GET /thumbnail` for a plain `<img>`, which can send no header: the token is in the address. */
const IMG = [HttpMethod.GET, '/img'] as const;

export class Api extends Construct {
  readonly url: string;
  /** How browsers reach thumbnails. */
  readonly delivery: Delivery;
  /** Answers for galleries and thumbnails. */
  readonly handler: GlimpseFunction;
  readonly #http: HttpApi;
  readonly #authorizers: Authorizers;

  constructor(
    scope: Construct,
    id: string,
    props: { config: Config; local: boolean; thumbnails: Thumbnails },
  ) {
    super(scope, id);
    const { config, local, thumbnails } = props;
    this.delivery = this.#delivery(config, thumbnails);
    const handler = this.#function(config, local, thumbnails);
    this.handler = handler;
    this.#authorizers = authorizersFor(config.authentication);
    this.#http = new HttpApi(this, 'Http', {
      apiName: Aws.STACK_NAME,
      createDefaultStage: false,
      corsPreflight: {
        allowOrigins: config.allowedOrigins,
        allowMethods: [CorsHttpMethod.GET, CorsHttpMethod.POST],
        allowHeaders: ['authorization', 'content-type'],
        maxAge: Duration.days(1),
      },
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.#http,
      autoDeploy: true,
      throttle: {
        rateLimit: config.throttle.requestsPerSecond,
        burstLimit: config.throttle.burst,
      },
    });
    this.route(handler, ROUTES);
    const { inAddress, ...usual } = this.#authorizers;
    if (inAddress !== undefined) this.route(handler, [IMG], inAddress);
    // What there is no route for is told as any other error: API Gateway's own answer has another shape.
    new HttpRoute(this, 'Unmatched', {
      httpApi: this.#http,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration('UnmatchedIntegration', handler),
      authorizer: usual.everywhere,
    });
    // A browser asks without a token whether it may send one, and the route for all else would refuse it.
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html
    new HttpRoute(this, 'Preflight', {
      httpApi: this.#http,
      routeKey: HttpRouteKey.with('/{proxy+}', HttpMethod.OPTIONS),
      integration: new HttpLambdaIntegration('PreflightIntegration', handler),
      authorizer: new HttpNoneAuthorizer(),
    });
    this.url = this.#http.apiEndpoint;
    alarm(this, 'ErrorsAlarm', {
      means: 'The API answers that something is wrong with it',
      metric: this.metric('5xx', { statistic: 'Sum' }),
      threshold: 0,
      minutes: 2,
      of: 5,
    });
    output(this, 'ApiUrl', this.url);
    output(this, 'Delivery', Stack.of(this).toJsonString(this.delivery));
    output(this, 'ApiAuthentication', config.authentication.kind);
  }

  /** Of API Gateway, for all routes together. */
  metric(name: 'Count' | '5xx', options: MetricOptions): Metric {
    return this.#http.metric(name, { ...EACH_MINUTE, ...options });
  }

  /** Answers these routes by that function, to whom the configuration lets in. */
  route(
    handler: GlimpseFunction,
    routes: readonly (readonly [HttpMethod, string])[],
    authorizer: IHttpRouteAuthorizer = this.#authorizers.everywhere,
  ): void {
    const integration = new HttpLambdaIntegration('Integration', handler);
    for (const [method, path] of routes) {
      this.#http.addRoutes({ path, methods: [method], integration, authorizer });
    }
  }

  #function(config: Config, local: boolean, made: Thumbnails): GlimpseFunction {
    const { originals, thumbnails, images, queues } = made;
    const { onDemand } = queues;
    return new GlimpseFunction(this, 'Function', {
      folder: 'thumbnail-api',
      description: 'Answers with direct URLs, claims what is cold',
      config,
      local,
      memoryMb: config.memoryMb.api,
      timeout: Duration.seconds(10),
    })
      .use({
        variable: 'IMAGES_TABLE',
        value: images.tableName,
        grants: [
          {
            actions: ['Query', 'BatchGetItem', 'UpdateItem', 'PutItem'].map(
              (name) => `dynamodb:${name}`,
            ),
            resources: [images.tableArn],
          },
        ],
      })
      .use({
        variable: 'ORIGINALS_BUCKET',
        value: originals.bucketName,
        grants: [
          // PutObject is the upload form's: S3 checks the form against the signer's permissions.
          {
            actions: ['s3:GetObject', 's3:PutObject'],
            resources: [originals.arnForObjects('*')],
          },
          { actions: ['s3:ListBucket'], resources: [originals.bucketArn] },
        ],
      })
      .use({
        variable: 'THUMBNAILS_BUCKET',
        value: thumbnails.bucketName,
        // A presigned URL can do what its signer may.
        grants:
          config.delivery.kind === 'presigned'
            ? [{ actions: ['s3:GetObject'], resources: [thumbnails.arnForObjects('*')] }]
            : [],
      })
      .use({
        variable: 'ON_DEMAND_QUEUE_URL',
        value: onDemand.queueUrl,
        grants: [{ actions: ['sqs:SendMessage'], resources: [onDemand.queueArn] }],
      })
      .use({ variable: 'VARIANTS', value: JSON.stringify(config.variants), grants: [] })
      .use({ variable: 'AUTHENTICATION', value: config.authentication.kind, grants: [] })
      .use({ variable: 'BOUNDS', value: JSON.stringify(config.bounds), grants: [] })
      .use({ variable: 'MAX_BYTES', value: String(config.uploads.maxBytes), grants: [] })
      .use({ variable: 'DELIVERY', value: JSON.stringify(this.delivery), grants: [] });
  }

  #delivery(config: Config, { thumbnails }: Thumbnails): Delivery {
    if (config.delivery.kind !== 'cdn') return config.delivery;
    const cdn = new Distribution(this, 'Cdn', {
      comment: 'Glimpse thumbnails',
      defaultBehavior: {
        origin: S3BucketOrigin.withOriginAccessControl(thumbnails),
        viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      },
    });
    return { kind: 'cdn', origin: `https://${cdn.distributionDomainName}` };
  }
}
