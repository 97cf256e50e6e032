import sharp from 'sharp';

// The one place that sets sharp up for the whole process; every module here imports it from here.
//
// No operation cache: a worker never meets the same bytes twice, and the cache would keep up to
// 50 MB of pixels between invocations. One thread: a function of 1,769 MB has one vCPU, and each
// thread more holds a strip of the picture. The stack sets MALLOC_ARENA_MAX=2 for the same reason.
sharp.cache(false);
sharp.concurrency(1);

export { sharp };
