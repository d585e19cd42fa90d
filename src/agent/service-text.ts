import { Document } from 'yaml';
import type { JsonObject } from '../machines/json.ts';
import type { AgentPlan } from '../machines/wizard/agent-plan.ts';

/** Renders the `service.yaml` of a plan. The YAML library quotes values that YAML would interpret differently. */
export function serviceText({ service, note }: Pick<AgentPlan, 'service' | 'note'>): string {
  const document = asDocument(service);
  // Names the command by its plain name, because the file may be used on another machine.
  document.commentBefore = ' Every key: holdpoint schema, and docs/configuration.md.';
  if (note !== '') document.comment = note;
  return document.toString();
}

/** Renders a channel file. */
export function channelText(content: JsonObject): string {
  return asDocument(content).toString();
}

/** Repeated values are written out in full, because readers reject too many aliases. */
function asDocument(content: JsonObject): Document {
  return new Document(content, { aliasDuplicateObjects: false });
}
