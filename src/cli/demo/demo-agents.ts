import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A generated demo agent: its service.yaml, and its tools with their descriptions. */
interface WrittenAgent {
  service: string;
  tools: Record<string, string>;
}

const ops: WrittenAgent = {
  service: `agent_id: ops
version: 1.4.0
description: Restarts, scales and rotates, once an operator on duty agrees
model: {provider: scripted, name: demo}
builtin_tools: [datetime_now]
security:
  modify:
    enabled: true
    tools:
      # More than eight cost more than they earn, regardless of the request.
      scale_service: {arguments: [{path: replicas, set: 8}]}
  defer:
    enabled: true
    tools:
      restart_service: {to: "channel:dashboard:*", timeout: 30m, context_template: "restart {args}"}
      scale_service: {to: "channel:dashboard:*", timeout: 2h, context_template: "scale {args}"}
      rotate_key:
        to: "channel:dashboard:*"
        timeout: 10m
        approvers: [ann@example.com, ben@example.com]
`,
  tools: {
    restart_service: 'Restarts a service.',
    scale_service: 'Sets how many of a service run.',
    rotate_key: 'Replaces a key by a new one.',
    read_graph: 'Reads how a service did in the last hour.',
  },
};

const support: WrittenAgent = {
  service: `agent_id: support
version: 2.1.0
description: Answers customers, and never says more than it may
model: {provider: scripted, name: demo}
auth:
  providers: [{type: oidc, name: staff, settings: {issuer: "https://login.example.com", audience: support}}]
security:
  guardrails: {enabled: true, denied_tools: [delete_customer]}
  step_up: {enabled: true, tools: {export_customers: gold}, acr_hierarchy: [silver, gold]}
  modify:
    enabled: true
    tools:
      send_mail: {arguments: [{path: text, replace: {pattern: '\\d{12,19}', with: '****'}}]}
`,
  tools: {
    send_mail: 'Sends a mail to a customer.',
    delete_customer: 'Deletes a customer with all orders.',
    export_customers: 'Writes a list of all customers.',
  },
};

const billing: WrittenAgent = {
  service: `agent_id: billing
version: 0.3.0
description: Sends invoices, once a model is configured
# Nobody has set this variable, so the agent cannot start.
model: {provider: scripted, name: "${'${BILLING_MODEL}'}"}
`,
  tools: { send_invoice: 'Sends an invoice to a customer.' },
};

/** Writes the demo agents other than the refund agent, each to its folder in the workspace. */
export async function writeDemoAgents(workspace: string): Promise<void> {
  for (const [name, agent] of Object.entries({ billing, ops, support })) {
    await writeAgent(join(workspace, name), name, agent);
  }
}

async function writeAgent(
  folder: string,
  name: string,
  { service, tools }: WrittenAgent,
): Promise<void> {
  await mkdir(join(folder, 'scripts'), { recursive: true });
  await writeFile(join(folder, 'service.yaml'), service);
  const sections = Object.entries(tools).map(([tool, use]) => `## Tool: ${tool}\n\n${use}\n`);
  const skill = `---\nname: ${name}\ndescription: What ${name} does.\n---\n${sections.join('\n')}`;
  await writeFile(join(folder, 'SKILL.md'), skill);
  for (const tool of Object.keys(tools)) {
    await writeFile(join(folder, 'scripts', `${tool}.sh`), 'echo "pretended with $(cat)"\n');
  }
}
