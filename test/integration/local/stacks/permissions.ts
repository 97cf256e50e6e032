import {
  allow,
  arnOf,
  bucket,
  lambda,
  permission,
  queue,
  queuePolicy,
  role,
} from '../fixture-stack.ts';

const TELLS = `export const handler = () => { console.log('something'); return process.env; };`;
const within = (name: string, path: string) => ({ 'Fn::Join': ['', [arnOf(name), path]] });
const LOGS = allow(['logs:CreateLogStream', 'logs:PutLogEvents']);

export const routes = {
  'GET /known/{id}': 'SummariesGranted',
  'GET /forgotten': 'SummariesGranted',
};

export const resources = {
  GrantedPhotos: bucket(),
  GrantedOrders: queue(),
  GrantedOrdersPolicy: queuePolicy('GrantedOrders'),
  GrantedItems: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      GlobalSecondaryIndexes: ['open', 'shut'].map((IndexName) => ({
        IndexName,
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      })),
    },
  },
  SummariesGranted: lambda('tells', { Role: arnOf('GrantedRole') }),
  GrantedRole: role(
    LOGS,
    allow('s3:GetObject', within('GrantedPhotos', '/in/*')),
    allow(['s3:PutObject', 's3:DeleteObject'], within('GrantedPhotos', '/out/*')),
    { ...allow('s3:*', within('GrantedPhotos', '/in/secret/*')), Effect: 'Deny' },
    allow(['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:BatchGetItem'], arnOf('GrantedItems')),
    allow('dynamodb:Query', within('GrantedItems', '/index/open')),
    allow('sqs:SendMessage', arnOf('GrantedOrders')),
  ),
  SummariesMute: lambda('tells', { Role: arnOf('MuteRole') }),
  MuteRole: role(),
  GrantedPermission: permission('SummariesGranted', 'apigateway.amazonaws.com', {
    'Fn::Join': [
      '',
      ['arn:aws:execute-api:us-east-1:000000000000:', { Ref: 'Api' }, '/*/*/known/{id}'],
    ],
  }),
};

export const code = { tells: TELLS };
