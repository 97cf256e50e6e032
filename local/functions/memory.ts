import { readFileSync } from 'node:fs';

export interface MemoryWatch {
  /** Ends the watch and answers the most that was seen, in bytes. */
  stop(): number;
}

const EVERY_MS = 200;

/** Looks at a process's memory now and then, and calls `exceeded` once it is more than `limit` bytes. */
export function watchMemory(pid: number, limit: number, exceeded: () => void): MemoryWatch {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, residentMemory(pid));
    if (peak > limit) exceeded();
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      return peak;
    },
  };
}

/**
 * 0 where there is no /proc, or no such process any more. Not asynchronous: the kernel answers at once,
 * and four trips to the thread pool for each invocation were a tenth of all that this process does.
 */
function residentMemory(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(statusOf(pid))?.[1] ?? 0;
  return Number(kilobytes) * 1024;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
