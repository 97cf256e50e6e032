import type { Template } from './silent-stack.ts';

/** Takes an action from the policies of the role whose id begins so. @returns from how many statements */
export function takeGrant(template: Template, role: string, action: string): number {
  let count = 0;
  for (const [id, { Type: type, Properties: properties }] of Object.entries(template.Resources)) {
    if (type !== 'AWS::IAM::Policy' || !id.startsWith(role)) continue;
    for (const statement of properties.PolicyDocument.Statement) {
      const actions: string[] = [statement.Action].flat();
      if (!actions.includes(action)) continue;
      count += 1;
      const left = actions.filter((each) => each !== action);
      // No statement may be without an action: this one any caller may.
      statement.Action = left.length === 0 ? 'sts:GetCallerIdentity' : left;
    }
  }
  return count;
}
