//! `auth` of a new credential.
use super::secret::{self, METHODS};
use super::{Kind, KINDS};
use crate::environment::variable::name_flaw;
use crate::policy::HostPattern;
use crate::vault::{
    Auth, ClientAuth, ClientMethod, Networking, Oauth, Phase, Refresh, StaticBearer, Variable,
    MAX_HOSTS,
};
use crate::wire::error::{echo, ApiError};
use crate::wire::fields::{self, Fields};

pub(super) fn read(mut fields: Fields) -> Result<Auth, ApiError> {
    let auth = match fields.required_one_of("type", &KINDS)? {
        Kind::McpOauth => Auth::McpOauth(Oauth {
            server: secret::url(&mut fields, "mcp_server_url")?,
            access_token: secret::required(&mut fields, "access_token", secret::token)?,
            expires_at: secret::instant(&mut fields, "expires_at")?,
            version: 1,
            refreshed_at: None,
            refresh: fields.object("refresh")?.map(refresh).transpose()?,
        }),
        Kind::StaticBearer => Auth::StaticBearer(StaticBearer {
            server: secret::url(&mut fields, "mcp_server_url")?,
            token: secret::required(&mut fields, "token", secret::token)?,
        }),
        Kind::EnvironmentVariable => Auth::EnvironmentVariable(Variable {
            name: secret_name(&mut fields)?,
            value: secret::required(&mut fields, "secret_value", secret::variable)?,
            networking: networking(&mut fields)?,
        }),
    };
    fields.finish()?;
    Ok(auth)
}

fn refresh(mut fields: Fields) -> Result<Refresh, ApiError> {
    let client_id = fields.require("client_id")?;
    let read = Refresh {
        client_id: secret::form_text(client_id, &fields.path_of("client_id"))?,
        refresh_token: secret::required(&mut fields, "refresh_token", secret::form_secret)?,
        token_endpoint: secret::url(&mut fields, "token_endpoint")?,
        client: client(&mut fields)?,
        resource: secret::optional_text(&mut fields, "resource")?,
        scope: secret::optional_text(&mut fields, "scope")?,
        phase: Phase::Ready { not_before: 0 },
        attempts: 0,
    };
    fields.finish()?;
    Ok(read)
}

fn client(fields: &mut Fields) -> Result<ClientAuth, ApiError> {
    let path = fields.path_of("token_endpoint_auth");
    let mut fields = Fields::of(fields.require("token_endpoint_auth")?, path)?;
    let method = fields.required_one_of("type", &METHODS)?;
    let secret =
        |fields: &mut Fields| secret::required(fields, "client_secret", secret::form_secret);
    let client = match method {
        ClientMethod::None => ClientAuth::None,
        ClientMethod::Basic => ClientAuth::Basic {
            secret: secret(&mut fields)?,
        },
        ClientMethod::Post => ClientAuth::Post {
            secret: secret(&mut fields)?,
        },
    };
    fields.finish()?;
    Ok(client)
}

fn secret_name(fields: &mut Fields) -> Result<String, ApiError> {
    let path = fields.path_of("secret_name");
    let name = fields.required_string("secret_name", 1, super::super::MAX_TEXT)?;
    match name_flaw(&name) {
        Some(flaw) => Err(secret::invalid(
            &path,
            format_args!("'{}': {flaw}", echo(&name)),
        )),
        None => Ok(name),
    }
}

fn networking(fields: &mut Fields) -> Result<Networking, ApiError> {
    let path = fields.path_of("networking");
    let mut fields = Fields::of(fields.require("networking")?, path)?;
    let limited = fields.required_one_of("type", &[("limited", true), ("unrestricted", false)])?;
    let networking = if limited {
        Networking::Limited {
            allowed_hosts: hosts(&mut fields)?,
        }
    } else {
        Networking::Unrestricted
    };
    fields.finish()?;
    Ok(networking)
}

fn hosts(fields: &mut Fields) -> Result<Vec<String>, ApiError> {
    let path = fields.path_of("allowed_hosts");
    let listed = fields::array(fields.require("allowed_hosts")?, &path, MAX_HOSTS)?;
    if listed.is_empty() {
        return Err(ApiError::wrong_length(&path, "array", 1, MAX_HOSTS, 0));
    }
    let mut hosts = Vec::new();
    for (host, path) in listed {
        let host = host_of(fields::string(host, &path, 1, 1_024)?, &path)?;
        if !hosts.contains(&host) {
            hosts.push(host);
        }
    }
    Ok(hosts)
}

/// A name or an IPv4 address that could be reached, in its canonical spelling.
fn host_of(text: String, path: &str) -> Result<String, ApiError> {
    if text.contains(['*', '[']) {
        return Err(secret::invalid(
            path,
            "expected an exact host name or IPv4 address",
        ));
    }
    match HostPattern::parse_allowed(&text) {
        Ok(host) => Ok(host.to_string()),
        Err(error) => Err(secret::invalid(path, error)),
    }
}
