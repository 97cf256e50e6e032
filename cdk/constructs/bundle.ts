import { writeFileSync } from 'node:fs';
import { AssetHashType, DockerImage } from 'aws-cdk-lib';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { type BundlingOptions, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs';
import { buildSync } from 'esbuild';
import type { Config } from '../config-schema.ts';
import { keepOwnSources } from './own-source-map.ts';

/**
 * As CommonJS: an ES module that imports `node:http` has Node look at all of that module's exports, among
 * them those that load undici, a sixth of what a cold start takes of the processor.
 */
const COMMON = {
  target: 'node24',
  minify: true,
  sourcesContent: false,
  define: { 'import.meta.url': 'bundleUrl' },
};
const MAPPER = new URL('./own-source-map.ts', import.meta.url).pathname;
const MAIN_FIELDS = ['module', 'main'];

// Our sources are ES modules, and one asks where it is.
const BANNER = "const bundleUrl = require('node:url').pathToFileURL(__filename).href;";

/**
 * A function's code, by esbuild's own API: the one of CDK calls it through npx, which costs a second
 * of the processor for each function. The SDK is bundled, too: the runtime carries one of a version
 * that AWS chooses, ours is the one that was tested.
 *
 * @param external packages that are found where the bundle runs.
 */
export function bundle(folder: string, external: readonly string[] = []): Code {
  const source = new URL(`../../functions/${folder}`, import.meta.url).pathname;
  return Code.fromAsset(source, {
    assetHashType: AssetHashType.OUTPUT,
    bundling: {
      image: DockerImage.fromRegistry('none'),
      local: {
        tryBundle(outputFolder) {
          const outfile = `${outputFolder}/index.js`;
          buildSync({
            ...COMMON,
            entryPoints: [`${source}/handler.ts`],
            outfile,
            bundle: true,
            platform: 'node',
            format: 'cjs',
            sourcemap: true,
            mainFields: MAIN_FIELDS,
            external: [...external],
            banner: { js: BANNER },
            logLevel: 'warning',
          });
          keepOwnSources(`${outfile}.map`);
          // Run from where it is, it would be what this project's own package.json says.
          writeFileSync(`${outputFolder}/package.json`, '{"type":"commonjs"}\n');
          return true;
        },
      },
    },
  });
}

/** The same with sharp, which is installed into the asset for the function's processor, from the registry. */
export function withSharp(config: Config): BundlingOptions {
  return {
    ...COMMON,
    format: OutputFormat.CJS,
    sourceMap: true,
    mainFields: MAIN_FIELDS,
    bundleAwsSDK: true,
    banner: BANNER,
    nodeModules: ['sharp'],
    // npm installs the native library of the machine it runs on, unless told.
    environment: {
      npm_config_os: 'linux',
      npm_config_cpu: config.architecture === 'arm64' ? 'arm64' : 'x64',
      npm_config_libc: 'glibc',
    },
    commandHooks: {
      beforeBundling: () => [],
      beforeInstall: () => [],
      afterBundling: (_, outputFolder) => [
        [process.execPath, MAPPER, `${outputFolder}/index.js.map`]
          .map((word) => JSON.stringify(word))
          .join(' '),
      ],
    },
  };
}
