import type { ServiceConfig } from '../../actors/config/config.ts';
import type { Guardrails } from '../../actors/governance/governance.ts';
import type { AuditEvent } from '../../actors/ports/audit-event.ts';
import { heldTools, shadowRules } from './ruled-tools.ts';

interface PolicyEventParts {
  policySha256: string;
  /** Digest of the replaced policy; absent at the start. */
  previousSha256?: string;
  /** The sandbox level of scripts; `null` if there are no scripts. */
  sandbox?: string | null;
}

/**
 * Builds the audit event for the policy in force: its version, the active layers, the held tools, the captured
 * contents, the reach of tools and scripts, and the tools of MCP servers (docs/contract/audit.md).
 */
export function policyEvent(
  config: ServiceConfig,
  guardrails: Guardrails | null,
  tools: Iterable<string>,
  { policySha256, previousSha256, sandbox = null }: PolicyEventParts,
): Pick<AuditEvent, 'event' | 'fields'> {
  const { version, security, credentials, audit, egress, mcp } = config;
  const servers = mcp.servers.map(({ name, tools: { allow, deny } }) =>
    allow === undefined ? { server: name, deny: deny ?? [] } : { server: name, allow },
  );
  const layers = {
    guardrails: guardrails !== null,
    intent_alignment: security.intent_alignment.enabled,
    step_up: security.step_up.enabled,
    modify: security.modify.enabled,
    defer: security.defer.enabled,
    credentials: credentials.length > 0,
    limits: Object.keys(security.limits).length > 0,
    effects: Object.keys(security.effects).length > 0,
  };
  const capture = (['tool_args', 'tool_result', 'llm_messages'] as const).filter(
    (contents) => audit.capture[contents],
  );
  const shadow = shadowRules(config);
  return {
    event: 'policy_loaded',
    fields: {
      version,
      policy_sha256: policySha256,
      ...(previousSha256 === undefined ? {} : { previous_sha256: previousSha256 }),
      layers: Object.entries(layers).flatMap(([layer, isOn]) => (isOn ? [layer] : [])),
      deferred_tools: heldTools(config, tools),
      ...(shadow.length === 0 ? {} : { shadow }),
      ...(capture.length === 0 ? {} : { capture }),
      egress: egress.mode,
      ...(servers.length === 0 ? {} : { mcp: servers }),
      ...(sandbox === null ? {} : { sandbox }),
    },
  };
}
