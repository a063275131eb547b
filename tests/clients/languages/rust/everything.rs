//! npm's `server-everything`, with a client that imports its runtime.

#[path = "everything_tools.rs"]
mod tools;

use crate::say;
use tools::runtime::Content;
use tools::*;

pub fn drive() {
    let tools = Tools::start().unwrap();
    say("server", tools.client().handshake()["serverInfo"]["name"].clone());
    let chicago = GetStructuredContentArguments { location: GetStructuredContentLocation::Chicago };
    say("weather", tools.get_structured_content(&chicago).call().unwrap());
    say("sum", tools.get_sum(&GetSumArguments { a: 2.0, b: 3.0 }).call().unwrap().text());
    let image = tools.get_tiny_image().call().unwrap();
    say("image", image.content.iter().filter(|block| matches!(block, Content::Image { .. })).count());
    let mut steps = 0;
    let long = TriggerLongRunningOperationArguments { duration: Some(0.2), steps: Some(2.0) };
    tools.trigger_long_running_operation(&long).on_progress(|_| steps += 1).call().unwrap();
    say("steps", steps);
    let reference = tools.get_resource_reference(&GetResourceReferenceArguments::default()).call().unwrap();
    let uri = reference.content.iter().find_map(|block| match block {
        Content::Resource { resource } => Some(resource["uri"].clone()),
        _ => None,
    });
    say("resource", uri);
    let links = tools.get_resource_links(&GetResourceLinksArguments { count: Some(2.0) }).call().unwrap();
    say("links", links.content.iter().filter(|block| matches!(block, Content::ResourceLink { .. })).count());
}
