// Questions to the container engine, without the start of a docker program for each.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { request } from "node:http";
import { promisify } from "node:util";

const socketPath = (process.env.DOCKER_HOST || "unix:///var/run/docker.sock").replace(/^unix:\/\//, "");

/** GET of the engine: its JSON, or null for what it does not have. */
export function engine(path) {
  return new Promise((resolve, reject) => {
    request({ socketPath, path }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      if (response.statusCode === 404) return resolve(null);
      if (response.statusCode !== 200) return reject(new Error(`the container engine answers ${response.statusCode} to ${path}`));
      resolve(JSON.parse(text));
    })
      .on("error", reject)
      .end();
  });
}

/** The docker program; its standard output. */
export async function docker(...argv) {
  return (await promisify(execFile)("docker", argv)).stdout.trim();
}

/** The host's address in the default network, which both the runner and plain containers reach. */
export async function bridgeAddress() {
  return (await engine("/networks/bridge")).IPAM.Config[0].Gateway;
}

/** The running containers of the runner with this state folder, but not their proxies. */
async function running(state) {
  const session = createHash("sha256").update(state).digest("hex").slice(0, 16);
  const filters = encodeURIComponent(JSON.stringify({ label: [`dev.workerd.session=${session}`] }));
  return (await engine(`/containers/json?filters=${filters}`)).filter(({ Names }) => !Names[0].endsWith("-proxy"));
}

/** Removes the harnesses and sandboxes of the runner with this state folder. */
export async function removeContainers(state) {
  const ids = (await running(state)).map(({ Id }) => Id);
  if (ids.length > 0) await docker("rm", "--force", ...ids);
}

/** Ids of the proxies in whose networks the runner's sandboxes are. */
export async function sandboxProxies(state) {
  const sandboxes = (await running(state)).filter(({ Names }) => !Names[0].includes("HarnessDO"));
  const inspected = await Promise.all(sandboxes.map(({ Id }) => engine(`/containers/${Id}/json`)));
  return inspected.map(({ HostConfig }) => HostConfig.NetworkMode.slice("container:".length));
}

/**
 * The running containers of the runner with this state folder, inspected: harness, sandbox, and the proxy in whose
 * network each is. Proxies of earlier sessions may still be there.
 */
export async function containersOf(state) {
  const found = {};
  for (const { Id, Names } of await running(state)) {
    const container = await engine(`/containers/${Id}/json`);
    if (!container) continue;
    const kind = Names[0].includes("HarnessDO") ? "harness" : "sandbox";
    found[kind] = container;
    found[`${kind}Proxy`] = await engine(`/containers/${container.HostConfig.NetworkMode.slice("container:".length)}/json`);
  }
  return found;
}
