// What AWS charges, in US dollars: list prices of us-east-1 without a free tier, as its pricing pages
// had them in 2025 (aws.amazon.com/lambda/pricing, /s3/pricing, /dynamodb/pricing/on-demand,
// /sqs/pricing, /api-gateway/pricing). Another region or a contract has others: the dashboards say which
// they are made with, and nothing else depends on them.

export const LAMBDA_GB_SECOND = { arm64: 0.0000133334, x86_64: 0.0000166667 } as const;
export const LAMBDA_REQUEST = 0.2e-6;
export const S3_PUT = 5e-6;
export const S3_GET = 0.4e-6;
export const DYNAMODB_WRITE = 0.625e-6;
export const SQS_REQUEST = 0.4e-6;
