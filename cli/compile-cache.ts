import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

// To be imported first: what a command and the processes that it starts load after this is compiled
// only at the first run. Node keeps it in the system's temporary folder, apart for each user.

enableCompileCache();
const folder = getCompileCacheDir();
// In it there is a folder for each version of Node.
if (folder !== undefined) process.env.NODE_COMPILE_CACHE ??= dirname(folder);
