import { serviceJsonSchema } from '../actors/config/config.ts';
import type { Session } from './session.ts';

/** `schema`: prints the JSON Schema of `service.yaml` for completion and validation in editors. */
export function printSchema({ output }: Session): void {
  const schema = serviceJsonSchema();
  output.line(JSON.stringify(schema, null, 2));
  output.json(schema);
}
