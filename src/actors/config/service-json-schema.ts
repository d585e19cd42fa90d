import { below, type JsonSchema } from './json-schema.ts';
import { serviceSchema } from './service-schema.ts';
import { describeKeys, isStrictSection } from './unknown-keys.ts';
import { cleaned, withoutOtherKeys, withVariables } from './written-schema.ts';

const switchedOn: JsonSchema = { properties: { enabled: { const: true } }, required: ['enabled'] };

/**
 * Generates the JSON Schema of `service.yaml` for editors (docs/contract/command.md).
 *
 * Accepts everything that the daemon accepts, and rejects invalid single values. Rules that span several keys, and
 * addresses, are left to `validate`. Unknown keys are rejected where the daemon rejects them.
 */
export function serviceJsonSchema(): JsonSchema {
  const whole = cleaned(describeKeys(serviceSchema) as JsonSchema);
  const sections: Record<string, JsonSchema> = {};
  for (const [key, section] of Object.entries(whole.properties ?? {})) {
    const closed = isStrictSection(key) ? withoutOtherKeys(section) : section;
    const layered = key === 'security' ? withIdleLayers(closed) : closed;
    const isNamed = key === 'auth' || key === 'audit' ? namesVariable : () => false;
    sections[key] = withVariables(layered, isNamed);
  }
  return { ...whole, properties: sections };
}

/** For a layer that is off, only the types of its settings are checked (docs/contract/step-up.md). */
function withIdleLayers(security: JsonSchema): JsonSchema {
  return below(security, (layer) => {
    if (layer.properties?.['enabled'] === undefined) return layer;
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema, and no function.
    return { ...typesOf(layer), if: switchedOn, then: withoutAnnotations(layer) };
  });
}

function typesOf(schema: JsonSchema): JsonSchema {
  const { anyOf: _union, required = [], ...open } = below(schema, typesOf);
  for (const rule of ['pattern', 'minimum', 'exclusiveMinimum', 'maximum', 'minItems'] as const) {
    delete open[rule];
  }
  const kept = required.filter((key) => schema.properties?.[key]?.anyOf === undefined);
  return kept.length > 0 ? { ...open, required: kept } : open;
}

/** An editor would show a description that stands at two places twice. */
function withoutAnnotations(schema: JsonSchema): JsonSchema {
  const {
    description: _description,
    default: _default,
    examples: _examples,
    ...rules
  } = below(schema, withoutAnnotations);
  return rules;
}

/** The value of such a key is the name of a variable and is never expanded. */
function namesVariable(key: string): boolean {
  return key === 'token_env' || key === 'key_env';
}
