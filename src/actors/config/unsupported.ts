import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** A setting that this version cannot fulfil. */
interface Control {
  thing: string;
  severity: Finding['severity'];
  /** The places that ask for it. */
  uses: (config: ServiceConfig) => Path[];
}

const controls: Control[] = [
  warned('the store of secrets', (config) => when(config.secrets !== undefined, 'secrets')),
];

/**
 * Finds what a configuration asks for and this version cannot do. A control that would be skipped is
 * an error, so that nobody relies on it; the rest are warnings.
 */
export function unsupportedControls(config: ServiceConfig): Finding[] {
  return controls.flatMap(({ thing, severity, uses }) =>
    uses(config).map((path) => ({ path, message: messageFor(thing, path), severity })),
  );
}

function messageFor(thing: string, path: Path): string {
  const remedy = path.at(-1) === 'enabled' ? 'remove it or set enabled: false' : 'remove it';
  return `${thing} is not available in this version; ${remedy}`;
}

function warned(thing: string, uses: Control['uses']): Control {
  return { thing, severity: 'warning', uses };
}

function when(isUsed: boolean, path: string): Path[] {
  return isUsed ? [path.split('.')] : [];
}
