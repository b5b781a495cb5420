// Command line of the runner.
import { resolve } from "node:path";
import { parseArgs } from "node:util";

const HELP = `Usage: node runner/run.mjs [OPTIONS]

Serves the Worker of a wrangler.toml: Durable Objects, containers, D1 and R2 in one process, with its state on disk.
Prints "ready URL" once it answers; the Worker's console follows.

  --config FILE         default: wrangler.toml
  --build DIR           the built modules, which the entry imports from build/; default: build beside the config
  --state DIR           state, and the identity of the containers; one runner at a time; default: .state
  --host ADDRESS        default: 127.0.0.1
  --port PORT           default: 0, any free one
  --docker SOCKET       default: DOCKER_HOST, or unix:///var/run/docker.sock
  --interceptor TAG     image that stands for the platform's outbound interception
  --image NAME=TAG      local image for images.NAME of the config; one for each name
  --var NAME[=VALUE]    value for a var or required secret that the config names; repeatable
  --secret NAME[=VALUE] value for any secret; repeatable
  --reach CIDR          addresses that the Worker's fetch may dial beyond public ones, such as 127.0.0.0/8; repeatable
  --upstream HOST:PORT  for tests: an HTTP server that gets, as a plain proxy does, each request of the Worker to a name,
                        http or https; none of them then reaches the network. Requests to addresses go there as before
  --neighbour FILE      another Worker of the same account, for tests: it has the gateway and its entrypoints bound, with
                        props of its own, and answers requests for http://neighbour.example
  --sql FILE            statements for the first D1 database, run at each start, after the migrations
  --verbose             more from miniflare and workerd
  --help                this text

A NAME without =VALUE takes its value from the environment variable of that name.

Ends on Ctrl-C, on SIGTERM, and when its standard input, if that is a pipe or a terminal, closes; then its containers are
removed. After kill -9 they go on, and the next start on the same --state takes them over.
`;

/** What the person at the keyboard can put right. Printed without a stack. */
export class UsageError extends Error {}

const SETTINGS = {
  config: { type: "string", default: "wrangler.toml" },
  build: { type: "string" },
  state: { type: "string", default: ".state" },
  host: { type: "string", default: "127.0.0.1" },
  port: { type: "string", default: "0" },
  docker: { type: "string", default: process.env.DOCKER_HOST || "unix:///var/run/docker.sock" },
  interceptor: { type: "string" },
  image: { type: "string", multiple: true, default: [] },
  var: { type: "string", multiple: true, default: [] },
  secret: { type: "string", multiple: true, default: [] },
  reach: { type: "string", multiple: true, default: [] },
  upstream: { type: "string" },
  neighbour: { type: "string" },
  sql: { type: "string" },
  verbose: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
};

/** The options, or null if only help was asked for (and printed). */
export function readOptions(argv) {
  let values;
  try {
    ({ values } = parseArgs({ args: argv, options: SETTINGS, strict: true, allowPositionals: false }));
  } catch (error) {
    throw new UsageError(`${error.message}\nTry: node runner/run.mjs --help`);
  }
  if (values.help) {
    process.stdout.write(HELP);
    return null;
  }
  if (!/^\d{1,5}$/.test(values.port) || Number(values.port) > 65535) throw new UsageError(`--port ${values.port}: not a port`);
  if (values.upstream && !/^[^\s/]+:\d{1,5}$/.test(values.upstream)) throw new UsageError(`--upstream ${values.upstream}: not HOST:PORT`);
  if (!values.docker.startsWith("unix://")) throw new UsageError(`--docker ${values.docker}: only a unix:// socket can be used`);
  return {
    ...values,
    config: resolve(values.config),
    build: values.build && resolve(values.build),
    state: resolve(values.state),
    neighbour: values.neighbour && resolve(values.neighbour),
    sql: values.sql && resolve(values.sql),
    port: Number(values.port),
    images: pairs("--image", values.image, () => undefined),
    vars: pairs("--var", values.var, (name) => process.env[name]),
    secrets: pairs("--secret", values.secret, (name) => process.env[name]),
  };
}

function pairs(option, list, lookUp) {
  return Object.fromEntries(
    list.map((item) => {
      const at = item.indexOf("=");
      const name = at < 0 ? item : item.slice(0, at);
      const value = at < 0 ? lookUp(name) : item.slice(at + 1);
      if (!name || value === undefined) throw new UsageError(`${option} ${name}: no value`);
      return [name, value];
    }),
  );
}
