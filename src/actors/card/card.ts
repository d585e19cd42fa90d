// What an agent says of itself: its cards, written and served.

export { skillOfTool } from './agent-skill.ts';
export { formatAgentSpec, writeAgentSpec } from './agent-spec.ts';
export { CardPublisher } from './card-publisher.ts';
