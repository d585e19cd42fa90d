import type { AnyStateNode } from 'xstate';
import { type Arrow, actorOf, arrowsFrom, childrenOf, withDescendants } from './arrows.ts';

/** Draws a chart as a Mermaid `stateDiagram-v2`. */
export function diagram(root: AnyStateNode): string {
  const arrows = withDescendants(root).flatMap(arrowsFrom);
  const anywhere = arrows.some(({ from, to }) => from === root && to !== null)
    ? [`state "any state" as ${idOf(root)}`]
    : [];
  return ['stateDiagram-v2', ...indented([...anywhere, ...inside(root, arrows)])].join('\n');
}

function inside(node: AnyStateNode, arrows: Arrow[]): string[] {
  const children = childrenOf(node);
  const separator = node.type === 'parallel' ? ['--'] : [];
  return [
    ...children.flatMap((child, index) => [
      ...(index === 0 ? [] : separator),
      ...drawn(child, arrows),
    ]),
    ...startOf(node),
    ...merged(arrows.filter((arrow) => homeOf(arrow) === node)),
    ...children.filter(({ type }) => type === 'final').map((end) => `${idOf(end)} --> [*]`),
  ];
}

function drawn(node: AnyStateNode, arrows: Arrow[]): string[] {
  const invoked = node.invoke.map(actorOf);
  if (childrenOf(node).length > 0) {
    const label = [node.key, ...invoked.map((name) => `(invokes ${name})`)].join(' ');
    return [`state "${label}" as ${idOf(node)} {`, ...indented(inside(node, arrows)), '}'];
  }
  const label = node.type === 'history' ? `history (${String(node.history)})` : node.key;
  const isDrawn = arrows.some(
    (arrow) => homeOf(arrow) === node.parent && (arrow.from === node || arrow.to === node),
  );
  const declaration = label === idOf(node) ? label : `state "${label}" as ${idOf(node)}`;
  return [
    ...(label === idOf(node) && isDrawn ? [] : [declaration]),
    ...invoked.map((name) => `${idOf(node)} : invokes ${name}`),
  ];
}

function startOf(node: AnyStateNode): string[] {
  if (node.type !== 'compound') return [];
  return node.initial.target.map((first) => `[*] --> ${idOf(first)}`);
}

/** Draws the arrows between the same two states as one, with a line of text for each. */
function merged(arrows: Arrow[]): string[] {
  const labels = new Map<string, string[]>();
  for (const { from, to, label } of arrows) {
    if (to === null) continue;
    const line = `${idOf(from)} --> ${idOf(to)}`;
    labels.set(line, [...(labels.get(line) ?? []), label.replaceAll(/[:;]/g, ' ')]);
  }
  return [...labels].map(([line, texts]) => `${line} : ${texts.join('<br/>')}`);
}

/** Arrows between siblings stand in their block; in any other block Mermaid would move the states there. */
function homeOf({ from, to }: Arrow): AnyStateNode {
  return from.parent !== undefined && from.parent === to?.parent ? from.parent : from.machine.root;
}

function idOf({ path }: AnyStateNode): string {
  return path.length === 0 ? 'anyState' : path.join('_').replaceAll(/\W/g, '_');
}

function indented(lines: string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
