import { readFile } from 'node:fs/promises';

export interface MemoryWatch {
  /** Ends the watch and answers the most that was seen, in bytes. */
  stop(): Promise<number>;
}

const EVERY_MS = 200;

/** Looks at a process's memory now and then, and calls `exceeded` once it is more than `limit` bytes. */
export function watchMemory(pid: number, limit: number, exceeded: () => void): MemoryWatch {
  let peak = 0;
  const look = async () => {
    peak = Math.max(peak, await residentMemory(pid));
    if (peak > limit) exceeded();
  };
  const timer = setInterval(look, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return peak;
    },
  };
}

/** 0 where there is no /proc, or no such process any more. */
async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0;
  return Number(kilobytes) * 1024;
}
