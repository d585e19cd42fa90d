import { BoundedNames, otherName } from './bounded-names.ts';

/** Maximum number of tools with series of their own; a server of tools may rename its tools at any time. */
const mostTools = 200;

/**
 * Returns the function from a tool of a call to its label. A caller or a model may name any tool, so a tool that the
 * agent does not list is `other`.
 */
export function toolLabels(
  listed: (tool: string) => string | null = (tool) => tool,
): (tool: string) => string {
  const names = new BoundedNames(mostTools);
  return (tool) => {
    const name = listed(tool);
    return name === null ? otherName : names.of(name);
  };
}
