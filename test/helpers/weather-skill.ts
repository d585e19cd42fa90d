/** A skill as tests write it. */
export const weather = `---
name: weather
description: Tells the weather
egress_domains: [api.weather.example]
metadata:
  service:
    requires:
      env: {required: [WEATHER_KEY], optional: [WEATHER_UNIT]}
---

# Weather

## Tool: forecast

Tells the weather of a city.

**Input:** city (string)
`;

export const forecast = '#!/bin/sh\ncurl -s https://api.weather.example/v1\n';

/** A skill as a model writes it down. */
export function writtenDown(skill: string, scripts: Record<string, string> = {}): string {
  const files = Object.entries(scripts).map(
    ([name, content]) => `\n\`\`\`\`script: ${name}\n${content}\`\`\`\`\n`,
  );
  return `Here it is.\n\n\`\`\`\`skill.md\n${skill}\`\`\`\`\n${files.join('')}`;
}
