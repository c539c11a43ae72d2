#include "app/config_syntax.hpp"

#include <algorithm>

namespace alkstore {

namespace {

constexpr size_t deepest = 32;
constexpr std::string_view own_block = "alkstore";

bool is_closer(char c) {
  return c == ']' || c == '}';
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9')
         || std::string_view{"-_.:/"}.find(c) != std::string_view::npos;
}

class parser {
public:
  parser(std::string_view text, finding_list& findings)
    : text_(text), rest_(text), findings_(findings) {
    std::replace(rest_.begin(), rest_.end(), '\r', ' ');
    if (text.substr(0, 3) == "\xEF\xBB\xBF") {
      pos_ = 3;
      blank(0, 3);
    }
  }

  config_syntax run() {
    config_syntax result;
    result.root.what = config_node::kind::map;
    for (skip_blank(); !at_end(); skip_blank())
      if (peek() == '[')
        section();
      else if (is_closer(peek()))
        stray();
      else
        group(result.root);
    result.rest = std::move(rest_);
    return result;
  }

private:
  using kind = config_node::kind;

  // -- the text ---------------------------------------------------------------

  bool at_end() const { return pos_ >= text_.size(); }
  char peek() const { return at_end() ? '\n' : text_[pos_]; }

  void next() {
    if (at_end())
      return;
    if (text_[pos_++] == '\n')
      ++line_;
  }

  void blank(size_t from, size_t to) {
    for (auto i = from; i < to; ++i)
      if (rest_[i] != '\n')
        rest_[i] = ' ';
  }

  void skip_comment() {
    auto from = pos_;
    pos_ = std::min(text_.find('\n', pos_), text_.size());
    blank(from, pos_);
  }

  void skip_space() {
    while (!at_end())
      if (peek() == ' ' || peek() == '\t' || peek() == '\r')
        next();
      else if (peek() == ';' || peek() == '#')
        skip_comment();
      else
        return;
  }

  void skip_blank() {
    for (skip_space(); !at_end() && peek() == '\n'; skip_space())
      next();
  }

  std::string word() {
    auto from = pos_;
    while (!at_end() && is_word(peek()))
      next();
    return std::string{text_.substr(from, pos_ - from)};
  }

  // -- findings ---------------------------------------------------------------

  void report(size_t line, std::string reason) {
    if (stopped_)
      return;
    findings_.add(line, path_, std::move(reason));
    if (findings_.full())
      stop();
  }

  void stop() {
    stopped_ = true;
    pos_ = text_.size();
  }

  void stray() {
    report(line_, std::string{"`"} + peek() + "` closes nothing");
    next();
  }

  bool opens_too_deep(size_t depth) {
    if (depth < deepest)
      return false;
    report(line_,
           "is nested deeper than " + std::to_string(deepest) + " levels");
    stop();
    return true;
  }

  // -- what is not ours -------------------------------------------------------

  // Jumps behind the quote that ends a text on this line, if there is one.
  bool skip_quoted(char quote) {
    for (auto i = pos_ + 1; i < text_.size() && text_[i] != '\n'; ++i)
      if (text_[i] == quote) {
        pos_ = i + 1;
        return true;
      } else if (text_[i] == '\\') {
        ++i;
      }
    return false;
  }

  // Passes over everything up to the end of the line, or up to what closes the
  // list or map that is open, and over whole groups on the way.
  void skip_rest() {
    size_t depth = 0;
    auto opened = line_;
    for (; !at_end(); skip_space()) {
      auto c = peek();
      if (depth == 0 && (c == '\n' || is_closer(c)))
        return;
      if ((c == '"' && skip_quoted('"')) || (c == '\'' && skip_quoted('\''))
          || (c == '<' && skip_quoted('>')))
        continue;
      if (c == '{' || c == '[') {
        if (opens_too_deep(depth))
          return;
        if (depth++ == 0)
          opened = line_;
      } else if (is_closer(c)) {
        --depth;
      }
      next();
    }
    if (depth > 0)
      report(opened, "a `{` or `[` is never closed");
  }

  // CAF 0.17 knows `[section]` too; our keys would be lost in one.
  void section() {
    auto line = line_;
    next();
    skip_space();
    refuse_outside(line, word());
    skip_rest();
    if (is_closer(peek()))
      next();
  }

  void refuse_outside(size_t line, const std::string& key) {
    auto size = own_block.size();
    if (key.compare(0, size, own_block) == 0
        && (key.size() == size || key[size] == '.'))
      report(line, "the form is `alkstore { key = value }`");
  }

  // -- what is ours -----------------------------------------------------------

  void group(config_node& root) {
    auto from = pos_;
    auto line = line_;
    auto key = word();
    skip_space();
    if (key != own_block || (peek() != '{' && peek() != '=')) {
      refuse_outside(line, key);
      skip_rest();
      return;
    }
    path_ = own_block;
    member_value(root, key, line);
    path_.clear();
    blank(from, pos_);
  }

  // True before the end of the list or map that is open.
  bool at_close() {
    for (skip_blank(); is_closer(peek()); skip_blank())
      if (open_.find(peek()) != std::string::npos)
        return true;
      else
        stray();
    return at_end();
  }

  void close(size_t opened) {
    auto closer = open_.back();
    open_.pop_back();
    if (peek() == closer) {
      next();
      return;
    }
    auto opener = std::string{closer == '}' ? "`{`" : "`[`"};
    if (!at_end()) {
      report(line_, std::string{"`"} + peek() + "` stands where the " + opener
                      + " of line " + std::to_string(opened)
                      + " is not closed yet");
      return;
    }
    report(opened, "its " + opener + " is never closed");
    stop();
  }

  // A comma with nothing before it.
  bool skip_comma() {
    if (peek() != ',')
      return false;
    report(line_, "nothing stands before `,`");
    next();
    return true;
  }

  void list(config_node& node) {
    node.what = kind::list;
    while (!at_close()) {
      if (skip_comma())
        continue;
      auto size = path_.size();
      path_ += "[" + std::to_string(node.items.size()) + "]";
      node.items.push_back(value());
      path_.resize(size);
      if (at_close())
        break;
      if (peek() == ',')
        next();
      else
        report(line_, "`,` is missing before a list's next value");
    }
    close(node.line);
  }

  void map(config_node& node) {
    node.what = kind::map;
    while (!at_close()) {
      if (skip_comma())
        continue;
      auto line = line_;
      auto size = path_.size();
      auto key = config_node{};
      if (peek() == '"')
        text(key);
      else
        key.text = word();
      skip_space();
      if (key.text.empty() || (peek() != '=' && peek() != '{')) {
        report(line, "`key = value` is expected here");
        skip_rest();
        continue;
      }
      path_ += "." + key.text;
      member_value(node, key.text, line);
      path_.resize(size);
      skip_separator();
    }
    close(node.line);
  }

  void skip_separator() {
    auto line = line_;
    skip_blank();
    if (peek() == ',')
      next();
    else if (!at_end() && !is_closer(peek()) && line_ == line) {
      report(line, "the value is followed by something else: after it comes a "
                   "`,` or a new line");
      skip_rest();
    }
  }

  void member_value(config_node& map, std::string key, size_t line) {
    if (peek() == '=') {
      next();
      skip_space();
    }
    // Read on a later line too: taken for a key it could show a secret.
    skip_blank();
    auto found = config_node{};
    if (at_end() || is_closer(peek()) || peek() == ',') {
      report(line, "has no value");
    } else {
      if (line_ != line)
        report(line, "its value has to stand on the same line");
      found = value();
    }
    map.members.push_back({std::move(key), line, std::move(found)});
  }

  config_node value() {
    config_node node;
    node.line = line_;
    auto c = peek();
    if (c == '"') {
      text(node);
    } else if (c != '[' && c != '{') {
      bare(node);
    } else if (!opens_too_deep(open_.size())) {
      open_ += c == '[' ? ']' : '}';
      next();
      c == '[' ? list(node) : map(node);
    }
    return node;
  }

  // `10 s` is judged as one value. More behind a blank is not of the value, and
  // would be shown with it.
  void bare(config_node& node) {
    constexpr size_t longest_unit = 5;
    auto found = text_.substr(pos_,
                              text_.find_first_of("\n,]}[{\";#", pos_) - pos_);
    found = found.substr(0, found.find_last_not_of(" \t\r") + 1);
    auto blank = std::min(found.find_first_of(" \t\r"), found.size());
    if (found.size() - blank > longest_unit)
      found = found.substr(0, blank);
    pos_ += found.size();
    node.text = found;
    node.what = kind::bare;
  }

  void text(config_node& node) {
    node.what = kind::text;
    for (next(); !at_end() && peek() != '\n'; next()) {
      if (peek() == '"') {
        next();
        return;
      }
      if (peek() == '\\') {
        next();
        escape(node);
        if (peek() == '\n')
          break;
      } else {
        node.text += peek();
      }
    }
    node.what = kind::none;
    report(line_, "a text is not closed by `\"` before the end of its line");
  }

  void escape(config_node& node) {
    constexpr std::string_view from = "nrt\\\"";
    constexpr std::string_view to = "\n\r\t\\\"";
    auto which = from.find(peek());
    if (which != std::string_view::npos)
      node.text += to[which];
    else
      report(line_, "a `\\` in a text is followed by n, r, t, \\ or \"");
  }

  std::string_view text_;
  size_t pos_ = 0;
  size_t line_ = 1;

  /// What closes each list and map that is open, the outermost first.
  std::string open_;

  /// The key that is being read, as findings name it.
  std::string path_;

  /// Set when going on has no use; nothing more is reported then.
  bool stopped_ = false;

  std::string rest_;
  finding_list& findings_;
};

} // namespace

config_syntax parse_config(std::string_view text, finding_list& findings) {
  return parser{text, findings}.run();
}

} // namespace alkstore
