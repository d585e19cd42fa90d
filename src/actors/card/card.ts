// Agent cards: assembly, encoding and publication.

export { skillOfTool } from './agent-skill.ts';
export { formatAgentSpec, writeAgentSpec } from './agent-spec.ts';
export { CardPublisher } from './card-publisher.ts';
