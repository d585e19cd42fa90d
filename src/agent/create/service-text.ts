import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document, stringify } from 'yaml';
import type { JsonObject } from '../../machines/json.ts';
import type { AgentPlan } from '../../machines/wizard/agent-plan.ts';
import { packageRoot } from '../../package-root.ts';
import { editorLine, schemaPath } from './editor-line.ts';

/** Renders the `service.yaml` of a plan. The YAML library quotes values that YAML would interpret differently. */
export function serviceText({
  agentId,
  service,
  note,
}: Pick<AgentPlan, 'agentId' | 'service' | 'note'>): string {
  if (service === null) return gateText(agentId);
  const document = asDocument(service);
  document.commentBefore = beginning.join('\n');
  if (note !== '') document.comment = note;
  return document.toString();
}

/** Names the command by its plain name, because the file may be used on another machine. */
const beginning = [
  editorLine('service.yaml'),
  ' Every key: holdpoint docs configuration.',
  ` An editor without ${schemaPath('service.yaml')}: holdpoint schema --write.`,
];

/** Returns the `service.yaml` of a gate: that of the example. */
export function gateText(agentId: string): string {
  const example = readFileSync(join(packageRoot, 'examples/gate/service.yaml'), 'utf8');
  const own = example.replace(/^agent_id: .*$/m, () => stringify({ agent_id: agentId }).trimEnd());
  return `#${editorLine('service.yaml')}\n${own}`;
}

/** Renders a channel file. */
export function channelText(file: string, content: JsonObject): string {
  const document = asDocument(content);
  document.commentBefore = editorLine(file);
  return document.toString();
}

/** Repeated values are written out in full, because readers reject too many aliases. */
function asDocument(content: JsonObject): Document {
  return new Document(content, { aliasDuplicateObjects: false });
}
