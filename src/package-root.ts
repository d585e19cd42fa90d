import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** Root of the clone or installed package, which contains `bin`, `skills`, `examples` and `dist`. */
export const packageRoot = dirname(findPackageJSON(import.meta.url) ?? import.meta.dirname);

/** Folder of the running code, `src` or the bundle. Text files are below it at their path in `src`. */
export const programFolder = import.meta.dirname;
