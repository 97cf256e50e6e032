import type { IHttpRouteAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpNoneAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer, HttpJwtAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import type { Authentication } from '../authentication-schema.ts';

export interface Authorizers {
  /** Of every route that is not named otherwise. */
  everywhere: IHttpRouteAuthorizer;
  /** Takes the token from the address, where there are tokens: an authorizer has one place to look at. */
  inAddress?: IHttpRouteAuthorizer;
}

/** Who is let in, before a function is paid for. */
export function authorizersFor(authentication: Authentication): Authorizers {
  switch (authentication.kind) {
    case 'jwt': {
      const { issuer, audience } = authentication;
      const jwtAudience = [audience];
      return {
        everywhere: new HttpJwtAuthorizer('SignedIn', issuer, { jwtAudience }),
        inAddress: new HttpJwtAuthorizer('SignedInByAddress', issuer, {
          jwtAudience,
          identitySource: ['$request.querystring.token'],
        }),
      };
    }
    case 'iam':
      return { everywhere: new HttpIamAuthorizer() };
    case 'none':
      return { everywhere: new HttpNoneAuthorizer() };
  }
}
