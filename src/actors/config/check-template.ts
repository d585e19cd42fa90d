import { argumentPlaceholder, placeholders } from '../../machines/governance/defer-policy.ts';
import { nearestName } from '../nearest-name.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';

/** Checks that a context template uses only existing placeholders; approvers would see any other one verbatim. */
export function checkTemplate(template: string, path: Path): Finding[] {
  const known: readonly string[] = placeholders;
  const choices = '{tool}, {args} and {args.NAME}';
  const written = new Set([...template.matchAll(/\{([\w.\s-]+)\}/g)].map(([, name = '']) => name));
  return [...written]
    .filter((name) => !known.includes(name) && !isArgument(name))
    .map((name) => {
      const near = nearestName(name.trim(), known);
      const advice = near !== null ? `did you mean {${near}}?` : `there are ${choices} alone`;
      return errorAt(path, `the placeholder {${name}} is unknown; ${advice}`);
    });
}

/** An argument name, optionally followed by nested names or indexes. */
function isArgument(name: string): boolean {
  return name.startsWith(argumentPlaceholder) && !/\s|\.$|\.\./.test(name);
}
