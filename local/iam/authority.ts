import { ACCOUNT } from '../template/intrinsics.ts';
import type { StackPlan } from '../template/stack.ts';
import type { Context, Statement } from './statement.ts';

// Who may do what, by the policies of the template: those of roles, of buckets and of queues. All is
// one account, in which a call is allowed that either side allows and neither denies.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html

/** Who calls. */
export type Caller =
  /** An administrator, as a developer in an account of their own is. */
  | { readonly kind: 'developer' }
  | { readonly kind: 'function'; readonly functionName: string; readonly roleArn: string }
  /** A part of AWS, on its own behalf, such as `s3.amazonaws.com`. */
  | { readonly kind: 'service'; readonly name: string; readonly context: Context }
  | { readonly kind: 'anonymous' };

export interface Call {
  /** Such as `s3:GetObject`. */
  readonly action: string;
  /** Its ARN, or `*` for an action that has none. */
  readonly resource: string;
}

/** One action on one resource that a role's policies allow, as they are written. */
export interface Grant {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  /** Whether a call was allowed by it so far. */
  readonly used: boolean;
}

export interface Authority {
  /** Why the call is refused, in AWS's words; nothing if it is allowed. Notes which grants it used. */
  refusal(caller: Caller, call: Call): string | undefined;
  /** As `refusal`, but of a call that is not made. */
  wouldRefuse(caller: Caller, call: Call): string | undefined;
  /** All that roles are granted. */
  grants(): Grant[];
}

export const ANONYMOUS: Caller = { kind: 'anonymous' };

/** All calls count as made over TLS: what is spoken on this machine is HTTP, and policies insist. */
const EVERY_CALL: Context = { 'aws:securetransport': 'true', 's3:tlsversion': '1.3' };

/** @param tell hears of each kind of refusal of a function or a service, once, in one line. */
export function createAuthority(plan: StackPlan, tell: (line: string) => void): Authority {
  const roles = new Map(plan.roles.map((role) => [role.arn, role.statements]));
  const attached = new Map([
    ...plan.buckets.map(({ name, policy }) => [`arn:aws:s3:::${name}`, policy] as const),
    ...plan.queues.map(({ arn, policy }) => [arn, policy] as const),
  ]);
  const closed = new Set(
    plan.buckets.flatMap(({ name, open }) => (open ? [] : `arn:aws:s3:::${name}`)),
  );
  const used = new Map<Statement, Set<string>>();
  const told = new Set<string>();

  const decide = (caller: Caller, call: Call): { refusal?: string; by: readonly Statement[] } => {
    const { action, resource } = call;
    const owner = resource.replace(/^(arn:aws:s3:::[^/]+)\/.*$/s, '$1');
    const context = caller.kind === 'service' ? { ...EVERY_CALL, ...caller.context } : EVERY_CALL;
    const speaksOf = (statement: Statement) =>
      statement.actions.covers(action) &&
      statement.resources.covers(resource) &&
      statement.holds(context);
    const ofRole = (caller.kind === 'function' ? roles.get(caller.roleArn) : undefined) ?? [];
    const own = ofRole.filter(speaksOf);
    const resources = (attached.get(owner) ?? [])
      .filter((statement) => names(statement, caller))
      .filter(speaksOf);
    if (own.some(isDeny)) return { refusal: denied(caller, call, 'an identity-based'), by: [] };
    if (resources.some(isDeny))
      return { refusal: denied(caller, call, 'a resource-based'), by: [] };
    if (caller.kind === 'developer') return { by: [] };
    // A bucket's public access block leaves its policy to those of the account.
    const shut = caller.kind === 'anonymous' && closed.has(owner);
    if (own.length > 0 || (resources.length > 0 && !shut)) return { by: own };
    return { refusal: notAllowed(caller, call), by: [] };
  };

  return {
    wouldRefuse: (caller, call) => decide(caller, call).refusal,
    refusal(caller, call) {
      const { refusal, by } = decide(caller, call);
      for (const statement of by) note(used, statement, call);
      if (refusal !== undefined) {
        const line = lineOf(caller, call, refusal);
        if (line !== undefined && !told.has(line)) tell(line);
        if (line !== undefined) told.add(line);
      }
      return refusal;
    },
    grants: () =>
      plan.roles.flatMap(({ name, statements }) =>
        statements
          .filter((statement) => !isDeny(statement))
          .flatMap((statement) =>
            pairs(statement.actions.texts, statement.resources.texts).map(([action, resource]) => ({
              role: name,
              action,
              resource,
              used: used.get(statement)?.has(`${action} ${resource}`) === true,
            })),
          ),
      ),
  };
}

/** As AWS names whoever calls. */
function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case 'developer':
      return `arn:aws:iam::${ACCOUNT}:user/developer`;
    case 'function': {
      const role = caller.roleArn.split('/').at(-1);
      return `arn:aws:sts::${ACCOUNT}:assumed-role/${role}/${caller.functionName}`;
    }
    case 'service':
      return caller.name;
    default:
      return caller.kind satisfies 'anonymous';
  }
}

const isDeny = ({ effect }: Statement): boolean => effect === 'Deny';

function names({ principals }: Statement, caller: Caller): boolean {
  return principals.some(({ kind, name }) => {
    if (kind === 'Service') return caller.kind === 'service' && caller.name === name;
    // Everyone is not the services: these are named.
    if (name === '*') return caller.kind !== 'service';
    return caller.kind === 'function' && (name === caller.roleArn || name === nameOf(caller));
  });
}

function note(used: Map<Statement, Set<string>>, statement: Statement, call: Call): void {
  const { actions, resources } = statement;
  const seen = used.get(statement) ?? new Set();
  used.set(statement, seen);
  for (const [action, resource] of pairs(
    actions.covering(call.action),
    resources.covering(call.resource),
  )) {
    seen.add(`${action} ${resource}`);
  }
}

function pairs(actions: readonly string[], resources: readonly string[]): [string, string][] {
  return actions.flatMap((action) =>
    resources.map((resource): [string, string] => [action, resource]),
  );
}

function denied(caller: Caller, { action, resource }: Call, kind: string): string {
  return `User: ${nameOf(caller)} is not authorized to perform: ${action} on resource: ${resource} with an explicit deny in ${kind} policy`;
}

function notAllowed(caller: Caller, { action, resource }: Call): string {
  if (caller.kind === 'anonymous') return 'Access Denied';
  const kind = caller.kind === 'service' ? 'resource-based' : 'identity-based';
  return `User: ${nameOf(caller)} is not authorized to perform: ${action} on resource: ${resource} because no ${kind} policy allows the ${action} action`;
}

/** What a developer reads. Of strangers and of objects one by one there would be no end. */
function lineOf(caller: Caller, { action, resource }: Call, refusal: string): string | undefined {
  const of = resource.replace(
    /^(arn:aws:s3:::[^/]+\/)(?:([^/]+)\/.*|.*)$/s,
    (_all, bucket, folder) => (folder === undefined ? `${bucket}*` : `${bucket}${folder}/*`),
  );
  const how = refusal.includes('explicit deny') ? 'take back what denies it' : 'grant it there';
  switch (caller.kind) {
    case 'function': {
      const { functionName, roleArn } = caller;
      return `AccessDenied: the function ${functionName} called ${action} on ${of}, which its role ${roleArn.split('/').at(-1)} does not allow in the template; ${how} (cdk/), or AWS will refuse it too.`;
    }
    case 'service':
      return `AccessDenied: ${caller.name} called ${action} on ${of}, whose policy in the template does not allow it; ${how} (cdk/), or AWS will refuse it too.`;
    default:
      return undefined;
  }
}
