import { quota } from './causes/account.ts';
import { idle, producer, starting } from './causes/calm.ts';
import { inside } from './causes/inside.ts';
import { full } from './causes/places.ts';
import { failing, refused, stopped, yielding } from './causes/provider.ts';
import { lookAt, type Scene } from './causes/scene.ts';
import type { Diagnosis, DiagnosisCode } from './diagnosis.ts';
import type { LineFacts } from './line-facts.ts';

// What limits those who spend an account, and what would help. When throughput × service time is the
// concurrency that was configured and the account is used, the provider is the limit; when it is not, the
// gap is inside. An alarm is raised for what goes on: the last minute and its last seconds have to say it.

/** What should not be said of a moment. */
const ALARMS: ReadonlySet<DiagnosisCode> = new Set([
  'failing',
  'inside',
  'yielding',
  'gate',
  'slow',
  'ceiling',
]);

/** Exactly one, and always: `inside` is whatever is none of the others. */
export function diagnose(facts: LineFacts): Diagnosis {
  const minute = lookAt(facts, 'rates');
  const told = stopped(minute) ?? idle(minute) ?? refused(minute);
  if (told !== undefined) return told;
  if (minute.all.seconds === 0) return yielding(minute) ?? starting(facts) ?? inside(minute);
  const found = judge(minute);
  if (!ALARMS.has(found.code)) return found;
  const lately = judge(lookAt(facts, 'lately'));
  return ALARMS.has(lately.code) ? (starting(facts) ?? found) : lately;
}

function judge(scene: Scene): Diagnosis {
  return (
    failing(scene) ??
    quota(scene) ??
    yielding(scene) ??
    producer(scene) ??
    full(scene) ??
    inside(scene)
  );
}
